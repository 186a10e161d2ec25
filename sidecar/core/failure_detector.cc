// The arithmetic of suspicion.
#include "core/failure_detector.hh"

#include <algorithm>

namespace bellwether {

void Arrivals::restart(Instant now) {
  *this = Arrivals{};
  last_heard_ = now;
}

void Arrivals::heard(Instant now, bool is_beat) {
  last_heard_ = now;
  if (!is_beat) return;
  if (last_beat_ != kNever) {
    const Duration gap = now - last_beat_;
    if (mean_ == Duration::zero()) {
      mean_ = gap;
      deviation_ = gap / 2;
    } else {
      const Duration error = gap - mean_;
      mean_ += error / 8;
      deviation_ += (std::chrono::abs(error) - deviation_) / 4;
    }
  }
  last_beat_ = now;
}

void Arrivals::forgive(Duration pause, Instant now) {
  last_heard_ = std::min(now, last_heard_ + pause);
  // The gap across the pause would teach a wrong rhythm.
  last_beat_ = kNever;
}

Duration FailureDetector::tolerance(const Arrivals& arrivals, Instant now) const {
  const Duration adaptive = arrivals.expected_gap() + limits_.heartbeat_interval;
  const Duration base = std::clamp(adaptive, limits_.min, limits_.max);
  if (now >= doubt_until_) return base;
  // From twice the patience down to the usual one, evenly.
  using std::chrono::milliseconds;  // nanoseconds squared would overflow
  const auto left = std::chrono::duration_cast<milliseconds>(doubt_until_ - now);
  return base + base * left.count() / std::chrono::duration_cast<milliseconds>(kDoubtLasts).count();
}

}  // namespace bellwether
