// Whose leader it is, which elections ended, and who is a member.
#include "metrics/core_observer.hh"

#include <algorithm>
#include <array>
#include <utility>

namespace bellwether::metrics {

CoreObserver::CoreObserver(Metrics& metrics, const Members& members, const Record& record,
                           const std::string& variant, OnElection on_election)
    : metrics_(metrics),
      members_(members),
      variant_(variant),
      on_election_(std::move(on_election)) {
  raise_epoch(record.max_epoch);
  metrics_.active_variant.set_only(variant_);
  count_members();
}

void CoreObserver::on_received(FrameType type, size_t bytes) {
  metrics_.on_received(type, bytes);
  meter_.on_received(type);
}

void CoreObserver::on_carried_out() {
  if (const auto granted = meter_.take_granted()) end_election(*granted);
}

void CoreObserver::on_sent(FrameType type, size_t bytes, bool is_delivered) {
  metrics_.on_sent(type, bytes, is_delivered);
  meter_.on_sent(type);
}

void CoreObserver::on(Instant now, const Publish& publish) {
  metrics_.set_leading(publish.is_leader ? std::optional(publish.valid_until) : std::nullopt);
  // Otherwise only valid_until moved on, or there was no leader before and there is none now.
  if (!publish.why || (!publish.leader && !leader_)) return;
  raise_epoch(publish.epoch);
  meter_.on_leader_change(now, publish.leader.has_value(), publish.is_leader, *publish.why);
  if (publish.leader == leader_) return;
  leader_ = publish.leader;
  leader_since_ = now;
  metrics_.leader_changes.count(*publish.why);
  name_leader();
}

void CoreObserver::on(Instant now, const Progress& progress) {
  if (const auto ended = meter_.on_state(now, progress.state)) end_election(*ended);
}

void CoreObserver::end_election(const ElectionSummary& election) {
  metrics_.on_election(election, variant_);
  if (on_election_) on_election_(election);
}

void CoreObserver::on(Instant, const MembersChanged&) {
  count_members();
  name_leader();  // it may have come back under another name
}

void CoreObserver::on(Instant, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kDone) meter_.on_command();
}

void CoreObserver::on(Instant, const DrainEnded& ended) {
  metrics_.drains.count(ended.end);
  metrics_.drain_duration.observe(ended.took);
}

// It never falls.
void CoreObserver::raise_epoch(uint64_t epoch) {
  epoch_ = std::max(epoch_, epoch);
  metrics_.epoch.set(epoch_);
}

void CoreObserver::count_members() {
  std::array<uint64_t, kValues<Liveness>> counts{};
  for (const Member& member : members_.all()) {
    ++counts[static_cast<size_t>(member.entry.liveness)];
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    metrics_.members.of(static_cast<Liveness>(i)).Set(static_cast<double>(counts[i]));
  }
}

void CoreObserver::name_leader() {
  if (!leader_) return metrics_.set_no_leader();
  const Member* member = members_.find(*leader_);
  metrics_.set_leader(member != nullptr ? member->entry.name : to_string(*leader_), leader_since_);
}

}  // namespace bellwether::metrics
