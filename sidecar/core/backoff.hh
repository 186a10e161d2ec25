// How long to wait before an election is held again: doubles with every try, with jitter so that
// two candidates that got in each other's way do not do so again.  A leader in between does not
// start it anew, only a calm while does: two that depose each other get slower.
#pragma once

#include "base/backoff.hh"

namespace bellwether {

class ElectionBackoff {
 public:
  explicit ElectionBackoff(uint64_t seed)
      : backoff_(seed, std::chrono::milliseconds(200), std::chrono::seconds(2), 2) {}

  // The next wait: 200 ms * 2^k, at most 2 s, give or take a half.
  Duration next(Instant now) {
    if (now - last_ > kCalm) backoff_.restart();
    last_ = now;
    return backoff_.next();
  }

 private:
  static constexpr Duration kCalm = std::chrono::seconds(10);

  Backoff backoff_;
  Instant last_{};
};

}  // namespace bellwether
