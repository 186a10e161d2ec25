// When may a member that outranks a working leader take over?  At once in the textbook; with a
// delay and damping otherwise, so that a process that keeps failing does not take leadership and
// lose it again every few seconds.
#pragma once

#include <algorithm>

#include "base/clock.hh"
#include "core/flapping.hh"
#include "core/identity.hh"
#include "core/options.hh"

namespace bellwether {

class Preemption {
 public:
  Preemption(Preempt policy, Duration delay, int64_t margin = 0)
      : policy_(policy), delay_(delay), margin_(margin) {}

  // What was learnt of this process stays.
  void set_policy(Preempt policy, Duration delay, int64_t margin) {
    policy_ = policy;
    delay_ = delay;
    margin_ = margin;
  }

  bool allows(const Rank& own, const Rank& leader) const {
    if (policy_ == Preempt::kOff) return false;
    if (policy_ == Preempt::kPriority || own.priority != leader.priority) {
      return own.priority > leader.priority;
    }
    // Scores that cross for a moment are not worth a change of leaders.
    if (own.score != leader.score || margin_ > 0) return own.score - leader.score > margin_;
    return leader.id < own.id;
  }

  // How long a leader must have been followed before it is preempted.
  Duration delay(Instant now) const { return std::max(delay_, flapping_.wait(now)); }

  // This process lost leadership, or what it had taken from a leader, without giving it up.
  void on_leadership_lost(Instant now) { flapping_.note(now, now, delay_); }

 private:
  Preempt policy_;
  Duration delay_;
  int64_t margin_;
  Flapping flapping_;
};

}  // namespace bellwether
