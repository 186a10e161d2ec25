// How long a group can be without a leader, computed from its timers: an upper bound for each kind
// of failure, with the sum that it comes from.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hh"
#include "config/config.hh"

namespace bellwether {

struct Failover {
  std::string failure;
  // From the failure until the new leader's flag is on: at most this, and so many round trips
  // between members (their length is the network's affair).
  Duration at_most{};
  int round_trips = 0;
  std::string formula;   // the sum in words of the configuration
  std::string old_flag;  // when the old leader's flag is off
  // As at_most, where a node was itself paused in the last 10 s: it doubts itself before others.
  Duration at_most_after_pause{};
  bool is_planned = false;  // a hand-over: the leader's application may finish first
};

// Where a refused connection may prove a death there are two rows for a killed sidecar: with the
// proof, and without, as behind a proxy, or when all peers are gone at once.
//
// Assumes one next in line that runs; the row that says otherwise assumes one more silent member.
std::vector<Failover> worst_case_failover(const Config& config);

// How long a sidecar that is told to end may take at most: its application finishes, it hands over
// or finds out that it cannot, and leaves.
Duration longest_departure(const Config& config);

}  // namespace bellwether
