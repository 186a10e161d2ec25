// What is more than one step of one series, and the text.
#include "metrics/metrics.hh"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <utility>

namespace bellwether::metrics {
namespace {

// The registry has them in the order of types and hashes.
void sort(std::vector<prometheus::MetricFamily>& families) {
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  for (prometheus::MetricFamily& family : families) {
    std::ranges::sort(family.metric, {}, &prometheus::ClientMetric::label);
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

HttpCounters::HttpCounters(prometheus::Registry& registry, const std::vector<HttpRoute>& routes,
                           const std::string& name, const std::string& help) {
  auto& family = add_family<prometheus::Counter>(registry, name, help);
  for (const HttpRoute& route : routes) {
    Counted& counted = routes_.emplace_back(Counted{.codes = route.codes});
    const auto add = [&](const std::string& code) {
      counted.series.push_back(&family.Add({{"route", route.name}, {"code", code}}));
    };
    for (const unsigned code : route.codes) add(std::to_string(code));
    add("other");
  }
}

void HttpCounters::count(size_t route, unsigned code) const {
  const auto& [codes, series] = routes_[route];
  series[static_cast<size_t>(std::ranges::find(codes, code) - codes.begin())]->Increment();
}

Metrics::Metrics(const Identity& identity) : who(identity) {
  build_info.set(1);
  config_last_reload_successful.set(true);  // else nobody would be here
  vote.set_only(Vote::kNone);
  for (size_t use = 0; use < kValues<TlsUse>; ++use) on_tls(static_cast<TlsUse>(use), true, {}, {});
}

std::string Metrics::text(Instant now, WallTime wall_clock) {
  refresh_leadership(now, wall_clock);
  refresh_process();
  std::vector<prometheus::MetricFamily> families = registry.Collect();
  sort(families);
  sign(families, who);
  return prometheus::TextSerializer().Serialize(families);
}

// Leadership that nobody renewed runs out by itself, as the flag does.
void Metrics::refresh_leadership(Instant now, WallTime wall_clock) {
  const bool is_valid = leads_until_ && now < *leads_until_;
  is_leader.set(is_valid);
  master_status.set(is_valid);
  const auto since_1970 = [&](Instant when) {
    return seconds(wall_clock.time_since_epoch() + (when - now));
  };
  lease_expiry.set(leads_until_ ? since_1970(*leads_until_) : 0);
  leader_since.set(leader_ != nullptr ? since_1970(leader_since_) : 0);
}

void Metrics::refresh_process() {
  update(process_);
  prometheus::Counter& cpu = process_cpu.of();
  cpu.Increment(process_.cpu_seconds - cpu.Value());
  process_resident_memory.set(process_.resident_memory_bytes);
  process_open_fds.set(process_.open_fds);
  process_start_time.set(process_.start_time_seconds);
}

void Metrics::on_election(const ElectionSummary& election, const std::string& variant) {
  elections.of(variant).count(election.trigger, election.result);
  election_messages.of(variant).of().Observe(static_cast<double>(election.messages.total()));
  if (election.duration) election_duration.of(variant).observe(*election.duration);
}

void Metrics::on_received(FrameType type, size_t bytes) {
  messages.count(Direction::kReceived, type);
  message_bytes.add(bytes, ByteDirection::kReceived);
}

void Metrics::on_sent(FrameType type, size_t bytes, bool is_delivered) {
  messages.count(is_delivered ? Direction::kSent : Direction::kUndeliverable, type);
  if (is_delivered) message_bytes.add(bytes, ByteDirection::kSent);
}

void Metrics::on_tls(TlsUse use, bool is_in_force, std::optional<std::time_t> begins,
                     std::optional<std::time_t> ends) const {
  tls_last_reload_successful.of(use).Set(is_in_force ? 1 : 0);
  tls_certificate_begin.of(use).Set(static_cast<double>(begins.value_or(0)));
  tls_certificate_expiry.of(use).Set(static_cast<double>(ends.value_or(0)));
}

void Metrics::on_config_reload(Reload result) {
  config_reloads.count(result);
  config_last_reload_successful.set(result == Reload::kApplied);
}

void Metrics::set_leader(std::string_view leader_name, Instant since) {
  leader_since_ = since;
  if (leader_ != nullptr && leader_name == leader_name_) return;
  set_no_leader();
  leader_name_ = leader_name;
  leader_ = &leader_info.Add({{"leader", leader_name_}});
  leader_->Set(1);
  leader_known.set(true);
}

void Metrics::set_no_leader() {
  if (leader_ == nullptr) return;
  leader_info.Remove(std::exchange(leader_, nullptr));
  leader_known.set(false);
}

}  // namespace bellwether::metrics
