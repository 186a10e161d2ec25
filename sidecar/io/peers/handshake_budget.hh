// How much of the loop's time the handshakes of whoever connects may take: about half.
//
// For a few bytes that cost a stranger nothing this process signs and verifies, and meanwhile no
// heartbeat is read or sent.
#pragma once

#include <chrono>
#include <utility>

#include "base/clock.hh"

namespace bellwether::io {

class HandshakeBudget {
 public:
  // Less than a heartbeat may be late.
  static constexpr Duration kMostAtOnce = std::chrono::milliseconds(10);

  // A part of one has taken `spent`, until `now`.  Returns how long there shall be none: as long as
  // they have taken, when that was too much at once; otherwise zero.
  Duration spend(Instant now, Duration spent) {
    if (now - began_ > 2 * kMostAtOnce) {
      began_ = now - spent;
      spent_ = Duration::zero();
    }
    spent_ += spent;
    return spent_ < kMostAtOnce ? Duration::zero() : std::exchange(spent_, Duration::zero());
  }

 private:
  Instant began_{};  // to count
  Duration spent_{};
};

}  // namespace bellwether::io
