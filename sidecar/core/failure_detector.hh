// Heartbeat failure detector.  Silence becomes suspicious after a time that adapts to how regularly
// the peer was heard (mean and deviation as in Jacobson & Karels, "Congestion Avoidance and
// Control", 1988), within fixed bounds.  It may be wrong at any time: safety never depends on it.
//
// A process that was stopped itself has heard nobody for a while; that says nothing of the others.
// So time in which this process did not run does not count as silence, and after such a pause it
// doubts itself first: its patience doubles and decays back (the idea of Lifeguard, Dadgar,
// Phillips & Currey, 2017).
#pragma once

#include <algorithm>

#include "base/clock.hh"
#include "core/options.hh"

namespace bellwether {

// When one peer was heard: the part of the detector that exists once per peer.
class Arrivals {
 public:
  // Forgets the past; silence counts from `now`.
  void restart(Instant now) {
    *this = Arrivals{};
    last_heard_ = now;
  }

  // The peer was heard.  `is_beat`: by a regular heartbeat, from which the rhythm is learnt.
  void heard(Instant now, bool is_beat) {
    last_heard_ = now;
    if (!is_beat) return;
    if (last_beat_ != kNever) learn(now - last_beat_);
    last_beat_ = now;
  }

  // This process did not run for `pause`: that time is not silence.
  void forgive(Duration pause, Instant now) {
    last_heard_ = std::min(now, last_heard_ + pause);
    // The gap across the pause would teach a wrong rhythm.
    last_beat_ = kNever;
  }

  Instant last_heard() const { return last_heard_; }

  // mean + 6 deviations of the beats' distances; 0 until the first two beats.
  Duration expected_gap() const { return mean_ + 6 * deviation_; }

 private:
  void learn(Duration gap) {
    if (mean_ == Duration::zero()) {
      mean_ = gap;
      deviation_ = gap / 2;
    } else {
      const Duration error = gap - mean_;
      mean_ += error / 8;
      deviation_ += (std::chrono::abs(error) - deviation_) / 4;
    }
  }

  Instant last_heard_{};
  Instant last_beat_ = kNever;  // kNever: no beat since restart
  Duration mean_{};
  Duration deviation_{};
};

class FailureDetector {
 public:
  explicit FailureDetector(const Options& options) { configure(options); }

  // Takes the limits from new options; what it knows of itself stays.
  void configure(const Options& options) {
    limits_ = {.heartbeat_interval = options.heartbeat_interval,
               .min = options.suspect_after_min,
               .max = options.suspect_after_max};
  }

  // How long silence of this peer is tolerated, seen from `now`.
  Duration tolerance(const Arrivals& arrivals, Instant now) const {
    const Duration adaptive = arrivals.expected_gap() + limits_.heartbeat_interval;
    const Duration base = std::clamp(adaptive, limits_.min, limits_.max);
    if (now >= doubt_until_) return base;
    // From twice the patience down to the usual one, evenly.
    using std::chrono::milliseconds;  // nanoseconds squared would overflow
    const auto left = std::chrono::duration_cast<milliseconds>(doubt_until_ - now);
    constexpr auto kWhole = std::chrono::duration_cast<milliseconds>(kDoubtLasts);
    return base + base * left.count() / kWhole.count();
  }

  // The peer is suspected from this moment on unless it is heard before.
  Instant suspect_at(const Arrivals& arrivals, Instant now) const {
    return arrivals.last_heard() + tolerance(arrivals, now);
  }

  // The loop ran late by so much that this process must have been stopped or starved.
  bool is_own_pause(Duration late) const { return late > limits_.heartbeat_interval; }

  // Doubles the patience for a while.
  void doubt_self(Instant now) { doubt_until_ = now + kDoubtLasts; }

 private:
  // Long enough for a starved machine to show whether it has recovered.
  static constexpr Duration kDoubtLasts = std::chrono::seconds(10);

  struct Limits {
    Duration heartbeat_interval{};
    Duration min{};
    Duration max{};
  };

  Limits limits_;
  Instant doubt_until_{};
};

}  // namespace bellwether
