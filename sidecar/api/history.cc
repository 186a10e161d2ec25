// A queue with a bound.
#include "api/history.hh"

namespace bellwether::api {

void ElectionHistory::on_election(const metrics::ElectionSummary& summary,
                                  const std::string& variant, const Leadership& outcome,
                                  WallTime now) {
  elections_.push_front({.ended = now,
                         .variant = variant,
                         .winner = outcome.leader,
                         .epoch = outcome.epoch,
                         .summary = summary});
  if (elections_.size() > kMaxKept) elections_.pop_back();
}

}  // namespace bellwether::api
