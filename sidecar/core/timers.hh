// The node's deadlines, one of each kind.  A timer that is due only says so; what follows from it
// is decided when the node is stepped.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/clock.hh"
#include "base/names.hh"

namespace bellwether {

// In the order in which they are handled when several are due together.
enum class Timer : uint8_t {
  kLease,      // leader or claimant: neither voters nor the store have answered for too long
  kHeartbeat,  // leader: the next beat
  kSuspicion,  // follower: the leader has been silent for too long
  kPlugin,     // the deadline of the election plugin
  kJoin,       // the search for a leader at start is over
  kElect,      // ask the plugin for an election
  kPreempt,    // ask the plugin to take over from a lower leader
  kHold,       // the operator's hold, or the wait after a restart, is over
  kHandover,   // the successor did not claim
  kDrain,      // leader: its application has not finished
  kClaim,      // candidate: canvass, claim or question came to nothing, or a promise is over
  kRecall,     // a voter that lost its state asks the others
  kStore,      // the store has not answered; or it is to be tried again
  kRenew,      // leader: write the record again
  kTell,       // others may be told what the application is worth by now
  kLast = kTell,
};
// As /v1/status calls them.
constexpr const char* name(Timer timer) {
  constexpr Names<Timer> kNames({"lease", "heartbeat", "suspicion", "election", "join", "elect",
                                 "preempt", "hold", "handover", "drain", "claim", "recall", "store",
                                 "renew", "tell"});
  return kNames[timer];
}

class Timers {
 public:
  Timers() { deadlines_.fill(kNever); }

  void arm(Timer timer, Instant deadline) { at(timer) = deadline; }
  void disarm(Timer timer) { at(timer) = kNever; }

  bool is_armed(Timer timer) const { return deadline(timer) != kNever; }
  Instant deadline(Timer timer) const { return deadlines_[static_cast<size_t>(timer)]; }

  // The earliest of all, kNever when none is armed.
  Instant next() const { return *std::min_element(deadlines_.begin(), deadlines_.end()); }

  // True once when the timer is due, and disarms it.
  bool take(Timer timer, Instant now) {
    if (deadline(timer) > now) return false;
    disarm(timer);
    return true;
  }

 private:
  Instant& at(Timer timer) { return deadlines_[static_cast<size_t>(timer)]; }

  std::array<Instant, kValues<Timer>> deadlines_;
};

}  // namespace bellwether
