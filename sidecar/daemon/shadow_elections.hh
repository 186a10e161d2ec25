// After each election that this node has won: what would it have cost by each of the variants?  It
// is held again in the simulator's virtual cluster, in the thread pool, so that the loop goes on.
#pragma once

#include "io/loop/loop.hh"
#include "metrics/metrics.hh"
#include "simulator/shadow_election.hh"

namespace bellwether {

class ShadowElections {
 public:
  // `metrics` outlives this object, and `plugin` the loop: a variant that is being tried when this
  // object goes is tried to its end, which is at most a third of a second off.
  ShadowElections(Loop& loop, const election_plugin& plugin, metrics::Metrics& metrics)
      : loop_(loop), plugin_(plugin), metrics_(metrics) {}
  ~ShadowElections();
  ShadowElections(const ShadowElections&) = delete;
  ShadowElections& operator=(const ShadowElections&) = delete;

  // The metrics tell what came of it.  One at a time: while another is held this one is skipped.
  void hold(simulator::ElectionFacts facts);

 private:
  struct Job;
  void start(simulator::ElectionFacts facts);
  void count(const Job& job);

  Loop& loop_;
  const election_plugin& plugin_;
  metrics::Metrics& metrics_;
  Job* running_ = nullptr;  // libuv's, until it is done
};

}  // namespace bellwether
