// When may a member that outranks a working leader take over?  At once in the textbook; with a
// delay and damping otherwise, so that a process that keeps failing does not take leadership and
// lose it again every few seconds.
#pragma once

#include <algorithm>

#include "base/clock.hh"
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
  Duration delay() const { return std::max(delay_, penalty_); }

  // This process lost leadership without giving it up, or could not take the place for which it had
  // asked, or was refused it after all.  Twice within a minute is flapping: then the usual wait is
  // doubled, and each further time what was waited last.
  void on_leadership_lost(Instant now) {
    const bool is_flapping = has_lost_ && now - lost_at_ < kFlappingWithin;
    const Duration doubled = 2 * std::max<Duration>(delay(), kShortestWait);
    penalty_ = is_flapping ? std::min<Duration>(doubled, kLastPenalty) : Duration::zero();
    has_lost_ = true;
    lost_at_ = now;
  }

 private:
  static constexpr Duration kFlappingWithin = std::chrono::seconds(60);
  // Without a delay there would be nothing to double.
  static constexpr Duration kShortestWait = std::chrono::milliseconds(500);
  static constexpr Duration kLastPenalty = std::chrono::seconds(300);

  Preempt policy_;
  Duration delay_;
  int64_t margin_;
  Duration penalty_{};
  bool has_lost_ = false;
  Instant lost_at_{};
};

}  // namespace bellwether
