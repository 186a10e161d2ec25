// The last elections in which this node took part, for GET /v1/history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "api/leadership.hh"
#include "base/wall_time.hh"
#include "metrics/election_meter.hh"

namespace bellwether::api {

struct PastElection {
  WallTime ended{};
  std::string variant;
  std::optional<NamedLeader> winner{};  // nullopt: nobody led when it ended
  uint64_t epoch = 0;                   // of the winner
  metrics::ElectionSummary summary;
};

class ElectionHistory {
 public:
  static constexpr size_t kMaxKept = 256;

  // An election that ended; `outcome` is who leads now.
  void on_election(const metrics::ElectionSummary& summary, const std::string& variant,
                   const Leadership& outcome, WallTime now) {
    elections_.push_front({.ended = now,
                           .variant = variant,
                           .winner = outcome.leader,
                           .epoch = outcome.epoch,
                           .summary = summary});
    if (elections_.size() > kMaxKept) elections_.pop_back();
  }

  // Newest first.
  const std::deque<PastElection>& elections() const { return elections_; }

 private:
  std::deque<PastElection> elections_;
};

}  // namespace bellwether::api
