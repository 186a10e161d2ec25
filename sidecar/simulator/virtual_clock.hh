// A process's own clock: it begins anywhere, runs at its own rate, and never goes back.  As
// CLOCK_BOOTTIME it goes on while the process is stopped; one that does not (CLOCK_MONOTONIC, when
// the host is suspended) is for the test that shows what would come of it.
#pragma once

#include <cstdint>

#include "base/clock.hh"

namespace bellwether::simulator {

class VirtualClock {
 public:
  // It shows `local` from now on.
  void show(Instant local, Instant virtual_now) {
    local_anchor_ = local;
    virtual_anchor_ = virtual_now;
  }

  // `permille`: 1000 runs with virtual time, 1100 is a tenth too fast.
  void set_rate(uint32_t permille, Instant virtual_now) {
    local_anchor_ = local(virtual_now);
    virtual_anchor_ = virtual_now;
    permille_ = permille;
  }

  void stop(Instant virtual_now) {
    local_anchor_ = local(virtual_now);
    is_stopped_ = true;
  }
  void go_on(Instant virtual_now) {
    if (!is_stopped_) return;
    virtual_anchor_ = virtual_now;
    is_stopped_ = false;
  }

  Instant local(Instant virtual_now) const {
    if (is_stopped_) return local_anchor_;
    return local_anchor_ + scaled(virtual_now - virtual_anchor_, permille_, 1000, 0);
  }

  // The first virtual moment at which the clock shows `local` or later.
  Instant virtual_at(Instant local) const {
    if (local == kNever) return kNever;
    return virtual_anchor_ + scaled(local - local_anchor_, 1000, permille_, permille_ - 1);
  }

 private:
  // (span * factor + rounding) / divisor, without a product that overflows after a few months.
  static Duration scaled(Duration span, Duration::rep factor, Duration::rep divisor,
                         Duration::rep rounding) {
    if (factor == divisor) return span;  // nearly always, and divisions are slow
    return span / divisor * factor + (span % divisor * factor + Duration(rounding)) / divisor;
  }

  Instant virtual_anchor_{};
  Instant local_anchor_{};
  Duration::rep permille_ = 1000;
  bool is_stopped_ = false;
};

}  // namespace bellwether::simulator
