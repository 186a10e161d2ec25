// How long to wait before an address is dialled again.
//
// A peer that has just gone may be back at once, and that its port refuses is news that others wait
// for; one that was never there must not cost anything, least of all where nobody but a peer says
// that there is one.  One that answers but does not want us changes its mind only when a person
// does something.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <span>

#include "base/clock.hh"

namespace bellwether {

class DialBackoff {
 public:
  // A link that lasts for less than `short_life` ended soon.
  DialBackoff(uint64_t seed, Duration short_life)
      : random_(static_cast<std::minstd_rand::result_type>(seed ^ (seed >> 32))),
        short_life_(short_life) {}

  // After a try that came to nothing: 1, 5, 20, 50 ms, then doubling to the longest wait.
  Duration after_failure() {
    const bool is_often = failures_ == kWaitsMs.size();
    return jittered(is_often ? longest_wait_ : next(kWaitsMs, failures_));
  }
  // A second, or where many are dialled in vain, more.
  void set_longest_wait(Duration wait) { longest_wait_ = std::max(kLongestWait, wait); }

  // After an answer that will not change soon: from 250 ms doubling to 5 s.
  Duration after_rejection() { return jittered(next(kLongWaitsMs, rejections_)); }

  // After a link that lasted for `lifetime`: none.  But from the third link in a row that ended
  // soon it counts as a failure: two that cannot stand each other must not keep each other busy.
  Duration after_link(Duration lifetime) {
    if (lifetime >= short_life_) {
      short_lives_ = 0;
      rejections_ = 0;
    } else {
      ++short_lives_;
    }
    failures_ = short_lives_ < kShortLivesForgiven ? 0 : short_lives_ - kShortLivesForgiven;
    return short_lives_ < kShortLivesForgiven ? Duration::zero() : after_failure();
  }

 private:
  static constexpr size_t kShortLivesForgiven = 3;
  static constexpr std::array kWaitsMs{1, 5, 20, 50, 100, 200, 400, 800};
  static constexpr Duration kLongestWait = std::chrono::seconds(1);
  static constexpr std::array kLongWaitsMs{250, 500, 1000, 2000, 4000, 5000};

  static Duration next(std::span<const int> waits_ms, size_t& tries) {
    const size_t index = std::min(tries, waits_ms.size() - 1);
    tries = index + 1;
    return std::chrono::milliseconds(waits_ms[index]);
  }

  // Give or take a quarter.
  Duration jittered(Duration wait) {
    return wait * 3 / 4 + wait * static_cast<Duration::rep>(random_() % 1024) / 2048;
  }

  std::minstd_rand random_;
  Duration short_life_;
  size_t failures_ = 0;
  size_t rejections_ = 0;
  size_t short_lives_ = 0;
  Duration longest_wait_ = kLongestWait;
};

}  // namespace bellwether
