// How often scores may change, also those that applications attach with: beyond it the rest is
// refused, and nothing is lost by it, since only the newest is ever told to anybody.
#pragma once

#include "base/clock.hh"

namespace bellwether::api {

class ScoreBudget {
 public:
  static constexpr int kPerSecond = 500;

  bool admit(Instant now) {
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      count_ = 0;
    }
    return ++count_ <= kPerSecond;
  }

 private:
  Instant second_{};  // since when is counted
  int count_ = 0;
};

}  // namespace bellwether::api
