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

#include "base/backoff.hh"

namespace bellwether::io {

class DialBackoff {
 public:
  // A link that lasts for less than `short_life` ended soon.
  DialBackoff(uint64_t seed, Duration short_life)
      : rejections_(seed, std::chrono::milliseconds(250), std::chrono::seconds(5), kPart),
        short_life_(short_life) {}

  // After a try that came to nothing: 1, 5, 20, 50 ms, then doubling to the longest wait.
  Duration after_failure() {
    const bool is_often = failures_ == kWaitsMs.size();
    return rejections_.spread(is_often ? longest_wait_
                                       : std::chrono::milliseconds(kWaitsMs[failures_++]));
  }
  // A second, or where many are dialled in vain, more.
  void set_longest_wait(Duration wait) { longest_wait_ = std::max(kLongestWait, wait); }

  // After an answer that will not change soon: from 250 ms doubling to 5 s; where many are dialled
  // in vain, more.
  Duration after_rejection() {
    return rejections_.next(longest_wait_ > kLongestWait ? longest_wait_ : Duration::zero());
  }

  // After a link that lasted for `lifetime`: none.  But from the third link in a row that ended
  // soon it counts as a failure: two that cannot stand each other must not keep each other busy.
  Duration after_link(Duration lifetime) {
    if (lifetime >= short_life_) {
      short_lives_ = 0;
      rejections_.restart();
    } else {
      ++short_lives_;
    }
    failures_ = short_lives_ < kShortLivesForgiven ? 0 : short_lives_ - kShortLivesForgiven;
    failures_ = std::min(failures_, kWaitsMs.size());
    return short_lives_ < kShortLivesForgiven ? Duration::zero() : after_failure();
  }

 private:
  static constexpr size_t kShortLivesForgiven = 3;
  static constexpr std::array kWaitsMs{1, 5, 20, 50, 100, 200, 400, 800};
  static constexpr Duration kLongestWait = std::chrono::seconds(1);
  static constexpr int kPart = 4;

  Backoff rejections_;
  Duration short_life_;
  size_t failures_ = 0;
  size_t short_lives_ = 0;
  Duration longest_wait_ = kLongestWait;
};

}  // namespace bellwether::io
