// How long an answer of the store is waited for: not for long as long as it is fast, so that one
// that will never come costs little; and as long as is of any use once it has turned out to be
// slow.
#pragma once

#include <algorithm>

#include "base/clock.hh"

namespace bellwether {

class Patience {
 public:
  Patience(Duration least, Duration most)
      : least_(least), most_(std::max(least, most)), now_(least) {}

  Duration least() const { return least_; }
  // A leader whose lease has this much left waits so long for a renewal: it has a second try then.
  Duration within(Duration left) const { return std::clamp(left / 2, now_, most_); }
  Duration now() const { return now_; }
  // Of one that leaves, and is waited for itself: as short as the store lets it be.
  Duration last() const {
    constexpr Duration kShortest = std::chrono::milliseconds(350);
    return std::min(least_, std::max(kShortest, 2 * took_));
  }

  void on_timeout() { now_ = std::min(2 * now_, most_); }
  void on_answer(Duration took) {
    took_ = took;
    if (took < now_ / 4) now_ = std::max(now_ / 2, least_);
    if (2 * took > now_) now_ = std::min(2 * took, most_);
  }

 private:
  Duration least_;
  Duration most_;
  Duration now_;
  Duration took_{};  // the last answer
};

}  // namespace bellwether
