// Counting: each method moves the series of one duty in the table.
#include "metrics/metrics.hh"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "metrics/election_meter.hh"
#include "metrics/table.hh"

namespace bellwether::metrics {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double number(bool is_true) { return is_true ? 1 : 0; }

// The registry has them in the order of types and hashes.
void sort(std::vector<prometheus::MetricFamily>& families) {
  std::sort(families.begin(), families.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  for (prometheus::MetricFamily& family : families) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& left, const auto& right) { return left.label < right.label; });
  }
}

// So that nobody who reads a series has to look up who wrote it: an address and a port change with
// every new life of a pod, and say nothing of the group.
void sign(std::vector<prometheus::MetricFamily>& families, const Identity& who) {
  for (prometheus::MetricFamily& family : families) {
    for (prometheus::ClientMetric& metric : family.metric) {
      metric.label.push_back({"group", who.group});
      metric.label.push_back({"member", who.member});
    }
  }
}

}  // namespace

Metrics::Metrics(const Identity& identity) : table_(std::make_unique<Table>(identity)) {
  table_->build_info.of().Set(1);
  table_->config_last_reload_successful.of().Set(1);  // else nobody would be here
  set_vote(Vote::kNone);
}

Metrics::~Metrics() = default;

std::string Metrics::text(Instant now, std::chrono::system_clock::time_point wall_clock) {
  refresh_leadership(now, wall_clock);
  refresh_process();
  std::vector<prometheus::MetricFamily> families = table_->registry.Collect();
  sort(families);
  sign(families, table_->who);
  return prometheus::TextSerializer().Serialize(families);
}

// Leadership that nobody renewed runs out by itself, as the flag does.
void Metrics::refresh_leadership(Instant now, std::chrono::system_clock::time_point wall_clock) {
  const bool is_valid = is_leading_ && now < valid_until_;
  table_->is_leader.of().Set(number(is_valid));
  table_->master_status.of().Set(number(is_valid));
  const auto since_1970 = [&](Instant when) {
    return seconds(wall_clock.time_since_epoch() + (when - now));
  };
  table_->lease_expiry.of().Set(is_leading_ ? since_1970(valid_until_) : 0);
  table_->leader_since.of().Set(leader_info_ != nullptr ? since_1970(leader_since_) : 0);
}

void Metrics::refresh_process() {
  update(process_);
  prometheus::Counter& cpu = table_->process_cpu.of();
  cpu.Increment(process_.cpu_seconds - cpu.Value());
  table_->process_resident_memory.of().Set(static_cast<double>(process_.resident_memory_bytes));
  table_->process_open_fds.of().Set(static_cast<double>(process_.open_fds));
  table_->process_start_time.of().Set(process_.start_time_seconds);
}

void Metrics::on_election(const ElectionSummary& election, const std::string& variant) {
  table_->elections.of(variant).of(election.trigger, election.result).Increment();
  table_->election_messages.of(variant).of().Observe(
      static_cast<double>(election.messages.total()));
  if (election.duration)
    table_->election_duration.of(variant).of().Observe(seconds(*election.duration));
}

void Metrics::on_shadow_messages(const std::string& variant, ElectionType type, uint64_t messages) {
  table_->shadow_messages.of(variant).of(type).Increment(static_cast<double>(messages));
}

void Metrics::on_shadow_election(ShadowResult result) {
  table_->shadow_elections.value().of(result).Increment();
}

void Metrics::set_leading(Instant valid_until) {
  is_leading_ = true;
  valid_until_ = valid_until;
}

void Metrics::set_not_leading() { is_leading_ = false; }

void Metrics::set_leader(std::string_view leader_name, Instant since) {
  leader_since_ = since;
  if (leader_info_ != nullptr && leader_name == leader_name_) return;
  set_no_leader();
  leader_name_ = leader_name;
  leader_info_ = &table_->leader_info.Add({{"leader", leader_name_}});
  leader_info_->Set(1);
  table_->leader_known.of().Set(1);
}

void Metrics::set_no_leader() {
  if (leader_info_ == nullptr) return;
  table_->leader_info.Remove(std::exchange(leader_info_, nullptr));
  table_->leader_known.of().Set(0);
}

void Metrics::set_active_variant(const std::string& variant) {
  prometheus::Gauge& active = table_->active_variant.of(variant).of();
  if (&active == active_variant_) return;
  if (active_variant_ != nullptr) active_variant_->Set(0);
  active.Set(1);
  active_variant_ = &active;
}

void Metrics::on_leader_change(Why why) { table_->leader_changes.of(why).Increment(); }

void Metrics::set_epoch(uint64_t epoch) {
  epoch_ = std::max(epoch_, epoch);
  table_->epoch.of().Set(static_cast<double>(epoch_));
}

void Metrics::set_members(const std::array<uint64_t, kValues<Liveness>>& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    table_->members.of(static_cast<Liveness>(i)).Set(static_cast<double>(counts[i]));
  }
}

void Metrics::on_received(FrameType type, size_t bytes) {
  table_->messages.of(Direction::kReceived, type).Increment();
  table_->message_bytes.of(ByteDirection::kReceived).Increment(static_cast<double>(bytes));
}

void Metrics::on_sent(FrameType type, size_t bytes, bool is_delivered) {
  const Direction direction = is_delivered ? Direction::kSent : Direction::kUndeliverable;
  table_->messages.of(direction, type).Increment();
  if (!is_delivered) return;
  table_->message_bytes.of(ByteDirection::kSent).Increment(static_cast<double>(bytes));
}

void Metrics::on_stale(FrameType type) { table_->stale_messages.of(type).Increment(); }

void Metrics::on_timeout(Awaited what) { table_->timeouts.of(what).Increment(); }

void Metrics::on_rejected(Rejection reason) { table_->rejected_frames.of(reason).Increment(); }
void Metrics::on_rejected(Unfit reason) { table_->unfit_frames.of(reason).Increment(); }

void Metrics::on_doubt(ProofDoubt doubt) { table_->death_proofs_doubted.of(doubt).Increment(); }

void Metrics::on_heartbeat_rtt(Duration rtt) { table_->heartbeat_rtt.of().Observe(seconds(rtt)); }

void Metrics::on_event_loop_lag(Duration lag) { table_->event_loop_lag.of().Observe(seconds(lag)); }

void Metrics::on_flag_update() { table_->flag_updates.of().Increment(); }

void Metrics::on_hook(HookResult result) { table_->hook_deliveries.of(result).Increment(); }

void Metrics::on_http_request(size_t route, unsigned code) {
  table_->http_requests.of(route, code).Increment();
}

void Metrics::on_limit(Limit limit, uint64_t times) {
  table_->limit_hits.of(limit).Increment(static_cast<double>(times));
}

void Metrics::set_config_mismatch(bool is_mismatch) {
  table_->config_mismatch.of().Set(number(is_mismatch));
}

void Metrics::set_flag_in_place(bool is_in_place) {
  table_->flag_in_place.of().Set(number(is_in_place));
}

void Metrics::on_flag_loss() { table_->flag_losses.of().Increment(); }

void Metrics::set_flag_robust(bool is_robust) { table_->flag_robust.of().Set(number(is_robust)); }

void Metrics::set_vote(Vote vote) {
  for (size_t i = 0; i < kValues<Vote>; ++i) {
    const auto value = static_cast<Vote>(i);
    table_->vote.of(value).Set(number(value == vote));
  }
}

void Metrics::on_config_reload(Reload result) {
  table_->config_reloads.of(result).Increment();
  table_->config_last_reload_successful.of().Set(number(result == Reload::kApplied));
}

}  // namespace bellwether::metrics
