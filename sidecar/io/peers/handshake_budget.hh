// How much of the loop's time the handshakes of whoever connects may take: about half.  For a few
// bytes that cost a stranger nothing this process signs and verifies, and meanwhile no heartbeat is
// read or sent.
#pragma once

#include <utility>

#include "base/clock.hh"

namespace bellwether::io {

class HandshakeBudget {
 public:
  // A part of one has taken `spent`, until `now`.  Returns how long there shall be none: as long as
  // they have taken, when that was more than `most` at once; otherwise zero.
  Duration spend(Instant now, Duration spent, Duration most) {
    if (now - began_ > 2 * most) {
      began_ = now - spent;
      spent_ = Duration::zero();
    }
    spent_ += spent;
    return spent_ < most ? Duration::zero() : std::exchange(spent_, Duration::zero());
  }

 private:
  Instant began_{};  // to count
  Duration spent_{};
};

}  // namespace bellwether::io
