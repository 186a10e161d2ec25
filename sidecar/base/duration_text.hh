// Durations as people write them: one whole number and one unit (ms, s, m, h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hh"

namespace bellwether {

// Nothing when the text is no such duration, or too long for the clock.
std::optional<Duration> parse_duration(std::string_view text);

// In the largest unit that leaves no fraction; what is below a millisecond is not shown.
std::string duration_text(Duration duration);

}  // namespace bellwether
