// Steps one node under guard "majority" by hand.  Members 1..5 vote unless a case says otherwise;
// the disk answers only when it is told to, so that what leaves before it can be seen.
#pragma once

#include "node_harness.hh"

namespace bellwether::tests {

// These options with the members 1..voters as its voters.
Options guarded(Options options = {}, uint32_t voters = 5);

// The first record that was to be stored; nothing when none was.
std::optional<Record> find_stored(const Effects& effects);

class GuardHarness : public NodeHarness {
 public:
  explicit GuardHarness(NodeSetup setup = {}, uint32_t voters = 5)
      : NodeHarness(with_voters(std::move(setup), voters)) {}

  // What a claim of somebody with the same voters asks for.
  Terms terms(Duration lease = seconds(1)) const { return {node().majority()->hash, lease}; }

  // --- what others say ---
  Effects receive_claim(uint32_t from, uint64_t epoch) {
    return receive(from, epoch, Coordinator{.sequence = 1, .terms = terms()});
  }
  Effects receive_canvass(uint32_t from, uint64_t number = 7) {
    return receive(from, 0, Canvass{.number = number, .voters = terms().voters});
  }
  Effects receive_beat(uint32_t from, uint64_t epoch, Duration lease = seconds(1)) {
    return receive(from, epoch, Heartbeat{.sequence = ++beats_, .terms = terms(lease)});
  }
  Effects receive_early_beat(uint32_t from, uint64_t epoch, Duration lease = seconds(1)) {
    return receive(from, epoch,
                   Heartbeat{.sequence = ++beats_, .is_effective = false, .terms = terms(lease)});
  }
  // Its answer to the present canvass of this node; it knows of `epoch`, and has released it.
  Effects receive_opinion(uint32_t from, bool is_yes, uint64_t epoch = 0);
  // Its vote for the present claim of this node.
  Effects receive_grant(uint32_t from, std::vector<Wait> waits = {}, Duration boot_wait = {});
  Effects receive_no(uint32_t from, uint64_t epoch);
  // Its promise, on receipt of the heartbeat with this number; the last one unless given.
  Effects receive_promise(uint32_t from, std::optional<uint64_t> sequence = {});

  // --- what the disk says ---
  // It has what this node wanted to store last.
  Effects disk_has_it() { return step(Persisted{node().record()}); }
  Effects disk_fails() { return step(Persisted{node().record(), /*is_ok=*/false}); }

  // --- states to begin from ---
  // Has stored its vote for this claim and granted it.
  GuardHarness& grant(uint32_t leader = 5, uint64_t epoch = 1);
  // ... and heard that it is effective.
  GuardHarness& follow(uint32_t leader = 5, uint64_t epoch = 1);
  // Has won an election and asks the voters.  `self` must be the highest of 1..5.
  GuardHarness& canvass();
  // ... a majority would grant, and its own vote is on its way to the disk.
  GuardHarness& vote_for_self();
  // ... and stored; COORDINATOR is sent.
  GuardHarness& claim();
  // ... and granted by 1 and 2, who wait for nobody.
  GuardHarness& lead();

 private:
  static NodeSetup with_voters(NodeSetup setup, uint32_t voters) {
    setup.options = guarded(std::move(setup.options), voters);
    return setup;
  }

  uint64_t beats_ = 1;
};

// One that is 5 of 1..5, the highest; three of five are a majority.
struct Candidate : GuardHarness {
  explicit Candidate(NodeSetup setup = {}, uint32_t voters = 5)
      : GuardHarness(as_highest(std::move(setup)), voters) {}

 private:
  static NodeSetup as_highest(NodeSetup setup) {
    setup.self = 5;
    return setup;
  }
};

// The answer to a claim that was sent, which there must be.
bool is_granted(const Effects& effects);

}  // namespace bellwether::tests
