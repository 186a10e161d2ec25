// One overload for each effect that says something.
#include "metrics/core_observer.hh"

#include <utility>

#include "metrics/core_texts.hh"

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
  const bool is_change = *publish.reason != '\0' && (publish.leader || leader_);
  if (!is_change) return;
  metrics_.set_epoch(publish.epoch);
  const LeaderChange reason = leader_change_of(publish.reason);
  meter_.on_leader_change(now, publish.leader.has_value(), publish.is_leader, reason);
  if (publish.leader == leader_) return;
  leader_ = publish.leader;
  leader_since_ = now;
  metrics_.on_leader_change(reason);
  name_leader();
}

void CoreObserver::on(Instant now, const Report& report) {
  metrics_.set_active_variant(variant_);  // a node that takes another one up reports it
  switch (report.kind) {
    case Report::Kind::kElection:
      if (const auto ended = meter_.on_state(now, report.state)) {
        metrics_.on_election(*ended, variant_);
        if (on_election_) on_election_(*ended);
      }
      return;
    case Report::Kind::kTimeout:
      if (const auto phase = phase_of(report.text, meter_.state())) metrics_.on_timeout(*phase);
      return;
    case Report::Kind::kStale:
      if (const auto type = frame_type_of(report.text)) metrics_.on_stale(*type);
      return;
    case Report::Kind::kRejected:
      return metrics_.on_rejected(rejection_of(report.text));
    case Report::Kind::kMember:
    case Report::Kind::kNote:
      return;
  }
}

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
