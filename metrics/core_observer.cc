// One overload for each effect that says something.
#include "metrics/core_observer.hh"

#include <utility>

namespace bellwether::metrics {

CoreObserver::CoreObserver(Metrics& metrics, const Members& members, const Record& record,
                           const std::string& variant, OnElection on_election)
    : metrics_(metrics),
      members_(members),
      variant_(variant),
      on_election_(std::move(on_election)) {
  metrics_.set_epoch(record.max_epoch);
  metrics_.set_active_variant(variant_);
  count_members();
}

void CoreObserver::on_effect(Instant now, const Effect& effect) {
  std::visit([&](const auto& what) { on(now, what); }, effect);
}

void CoreObserver::on_received(FrameType type, size_t bytes) {
  metrics_.on_received(type, bytes);
  meter_.on_received(type);
}

void CoreObserver::on_sent(FrameType type, size_t bytes, bool is_delivered) {
  metrics_.on_sent(type, bytes, is_delivered);
  meter_.on_sent(type);
}

void CoreObserver::on(Instant now, const Publish& publish) {
  if (publish.is_leader) {
    metrics_.set_leading(publish.valid_until);
  } else {
    metrics_.set_not_leading();
  }
  // Otherwise only valid_until moved on, or there was no leader before and there is none now.
  if (!publish.why || (!publish.leader && !leader_)) return;
  metrics_.set_epoch(publish.epoch);
  meter_.on_leader_change(now, publish.leader.has_value(), publish.is_leader, *publish.why);
  if (publish.leader == leader_) return;
  leader_ = publish.leader;
  leader_since_ = now;
  metrics_.on_leader_change(*publish.why);
  name_leader();
}

void CoreObserver::on(Instant now, const Progress& progress) {
  const auto ended = meter_.on_state(now, progress.state);
  if (!ended) return;
  metrics_.on_election(*ended, variant_);
  if (on_election_) on_election_(*ended);
}

void CoreObserver::on(Instant, const TimedOut& timeout) { metrics_.on_timeout(timeout.what); }
void CoreObserver::on(Instant, const Stale& stale) { metrics_.on_stale(stale.type); }
void CoreObserver::on(Instant, const Rejected& rejected) { metrics_.on_rejected(rejected.why); }

// A node that takes another variant up remarks it.
void CoreObserver::on(Instant, const Remark&) { metrics_.set_active_variant(variant_); }

void CoreObserver::on(Instant, const Store& store) { metrics_.set_epoch(store.record.max_epoch); }

void CoreObserver::on(Instant, const MembersChanged&) {
  count_members();
  name_leader();  // it may have come back under another name
}

void CoreObserver::on(Instant, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kDone) meter_.on_command();
}

void CoreObserver::count_members() {
  std::array<uint64_t, kValues<Liveness>> counts{};
  for (const Member& member : members_.all()) {
    ++counts[static_cast<size_t>(member.entry.liveness)];
  }
  metrics_.set_members(counts);
}

void CoreObserver::name_leader() {
  if (!leader_) return metrics_.set_no_leader();
  const Member* member = members_.find(*leader_);
  metrics_.set_leader(member != nullptr ? member->entry.name : to_string(*leader_), leader_since_);
}

}  // namespace bellwether::metrics
