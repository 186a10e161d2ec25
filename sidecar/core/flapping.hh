// What comes to nothing again and again is tried, or allowed, ever more rarely.
#pragma once

#include <algorithm>

#include "base/clock.hh"

namespace bellwether {

class Flapping {
 public:
  // What is to be waited before the next time, at least: nothing, as long as nothing flaps, and
  // nothing any more when what failed last was longer ago than flapping reaches.
  Duration wait(Instant now) const { return now < over_at() + kWithin ? wait_ : Duration::zero(); }
  // When that, and what is waited anyway, is over.
  Instant over_at() const { return failed_at_ + waited_; }

  // What had begun then has come to nothing now.  Twice within a minute, beyond what was waited, is
  // flapping: then the wait is doubled, up to the longest.  `usual` is what is waited anyway.
  void note(Instant began, Instant now, Duration usual, Duration longest = kLongest) {
    const bool is_again = has_failed_ && began - failed_at_ < kWithin + waited_;
    const Duration doubled = 2 * std::max<Duration>({usual, waited_, kShortest});
    wait_ = is_again ? std::min<Duration>({doubled, longest, kLongest}) : Duration::zero();
    waited_ = std::max(usual, wait_);
    has_failed_ = true;
    failed_at_ = now;
  }

 private:
  static constexpr std::chrono::seconds kWithin{60};
  // Without a usual wait there would be nothing to double.
  static constexpr std::chrono::milliseconds kShortest{500};
  static constexpr std::chrono::seconds kLongest{300};

  Duration wait_{};
  Duration waited_{};  // the usual one counts
  bool has_failed_ = false;
  Instant failed_at_{};
};

}  // namespace bellwether
