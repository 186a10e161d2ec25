// How long to wait before something is tried again: doubling waits, spread so that those who have
// failed together do not try again together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "base/clock.hh"

namespace bellwether {

class Backoff {
 public:
  // From `first`, doubling up to `last`; each is up to a `part`th of its length shorter or longer
  // (2: a half).  Equal seeds give equal waits.
  Backoff(uint64_t seed, Duration first, Duration last, int part)
      : random_(static_cast<std::minstd_rand::result_type>(seed ^ (seed >> 32))),
        first_(first),
        last_(last),
        part_(part),
        next_(first) {}

  Duration next(Duration at_least = {}) {
    const Duration wait = std::max(next_, at_least);
    next_ = std::min(2 * next_, last_);
    return spread(wait);
  }
  // The next wait is the first again.
  void restart() { next_ = first_; }

  // A wait of this length, shorter or longer as all are.
  Duration spread(Duration wait) {
    const Duration most = wait / part_;
    return wait - most + 2 * most * static_cast<Duration::rep>(random_() % 1024) / 1024;
  }

 private:
  std::minstd_rand random_;
  Duration first_;
  Duration last_;
  int part_;
  Duration next_;
};

}  // namespace bellwether
