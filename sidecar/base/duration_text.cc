// The units, and the two ways through them.
#include "base/duration_text.hh"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>

namespace bellwether {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};

// The largest first.
constexpr Unit kUnits[] = {
    {"h", std::chrono::hours(1)},
    {"m", std::chrono::minutes(1)},
    {"s", std::chrono::seconds(1)},
    {"ms", std::chrono::milliseconds(1)},
};

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  if (text.empty() || text.front() == '-') return std::nullopt;
  int64_t count = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, count);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name(end, static_cast<size_t>(last - end));
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (count > Duration::max() / unit.length) return std::nullopt;
    return count * unit.length;
  }
  return std::nullopt;
}

std::string duration_text(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  for (const Unit& unit : kUnits) {
    const bool is_last = &unit == std::end(kUnits) - 1;
    if (is_last || duration % unit.length == Duration::zero()) {
      return fmt::format("{}{}", duration / unit.length, unit.name);
    }
  }
  return "";
}

}  // namespace bellwether
