// Time in the core is a number that comes with every input; nothing in here reads a clock.
// The shell passes CLOCK_BOOTTIME, the simulator its virtual time.
#pragma once

#include <chrono>

namespace bellwether {

using Duration = std::chrono::nanoseconds;

// Names the time points of the core's clock; it has no now() on purpose.
struct CoreClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<CoreClock>;
  static constexpr bool is_steady = true;
};

using Instant = CoreClock::time_point;

inline constexpr Instant kNever = Instant::max();

}  // namespace bellwether
