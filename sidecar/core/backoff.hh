// How long to wait before an election is held again: doubles with every try, with jitter so that
// two candidates that got in each other's way do not do so again.  A leader in between does not
// start it anew, only a calm while does: two that depose each other get slower.
#pragma once

#include <algorithm>
#include <random>

#include "base/clock.hh"

namespace bellwether {

class Backoff {
 public:
  explicit Backoff(uint64_t seed)
      : random_(static_cast<std::minstd_rand::result_type>(seed ^ (seed >> 32))) {}

  // The next wait: 200 ms * 2^k, at most 2 s, give or take a half.
  Duration next(Instant now) {
    if (now - last_ > kCalm) tries_ = 0;
    last_ = now;
    const Duration base = std::min<Duration>(kFirst * (1 << tries_), kLast);
    if (base < kLast) ++tries_;
    return base / 2 + base * static_cast<Duration::rep>(random_() % 1024) / 1024;
  }

 private:
  static constexpr Duration kFirst = std::chrono::milliseconds(200);
  static constexpr Duration kLast = std::chrono::seconds(2);
  static constexpr Duration kCalm = std::chrono::seconds(10);

  std::minstd_rand random_;
  int tries_ = 0;
  Instant last_{};
};

}  // namespace bellwether
