// Turns what the node decides, hears and says into metrics.  It only watches: nothing depends on
// it.
#pragma once

#include <functional>
#include <optional>

#include "core/effects.hh"
#include "core/members.hh"
#include "metrics/election_meter.hh"
#include "metrics/metrics.hh"

namespace bellwether::metrics {

class CoreObserver {
 public:
  // Told of each election that has ended, when it has been counted.
  using OnElection = std::function<void(const ElectionSummary& election)>;

  // `members` is the node's, `record` what it starts from.  All must outlive this.
  // `variant` is the node's active one, whichever that is at the time.
  CoreObserver(Metrics& metrics, const Members& members, const Record& record,
               const std::string& variant, OnElection on_election = {});

  // For each effect, in order, before it is carried out.
  void on_effect(Instant now, const Effect& effect) {
    std::visit([&](const auto& what) { on(now, what); }, effect);
  }
  // For each frame, before the node is told.
  void on_received(FrameType type, size_t bytes);
  // The effects of a step, and what they have sent, are all counted.
  void on_carried_out();
  // For each Send that was carried out; `is_delivered`: there was a connection to write it to.
  void on_sent(FrameType type, size_t bytes, bool is_delivered);

 private:
  void on(Instant now, const Publish& publish);
  void on(Instant now, const Progress& progress);
  void on(Instant, const TimedOut& timeout) { metrics_.timeouts.count(timeout.what); }
  void on(Instant, const Stale& stale) { metrics_.stale_messages.count(stale.type); }
  void on(Instant, const Rejected& rejected) { metrics_.unfit_frames.count(rejected.why); }
  // A node that takes another variant up remarks it.
  void on(Instant, const Remark&) { metrics_.active_variant.set_only(variant_); }
  void on(Instant, const Persist& persist) { raise_epoch(persist.record.max_epoch); }
  void on(Instant now, const MembersChanged&);
  void on(Instant now, const Outcome& outcome);
  void on(Instant, const DrainEnded& ended);
  // Counted elsewhere, or of no interest.
  template <OneOf<Send, RefuseLink, EndLink, PersistMembers, StoreRead, StoreWrite, StoreWatch,
                  DrainBegun, Sighting, Left, Failed>
                Other>
  void on(Instant, const Other&) {}

  void end_election(const ElectionSummary& election);
  void raise_epoch(uint64_t epoch);
  void count_members();
  void name_leader();

  Metrics& metrics_;
  const Members& members_;
  const std::string& variant_;
  OnElection on_election_;
  ElectionMeter meter_;
  uint64_t epoch_ = 0;
  std::optional<Uuid> leader_;
  Instant leader_since_{};
};

}  // namespace bellwether::metrics
