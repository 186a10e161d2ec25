// The civil date comes from <chrono>, which knows the calendar but cannot print it yet.
#include "base/wall_time.hh"

#include <fmt/core.h>

#include <algorithm>

namespace bellwether {
namespace {

// The part of a second has as many digits as its unit needs.
template <typename Unit>
std::string in_words(WallTime time, int digits) {
  using std::chrono::days;
  const auto since_1970 = std::chrono::floor<Unit>(time);
  const auto day = std::chrono::floor<days>(since_1970);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(since_1970 - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:0{}}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count(), digits);
}

}  // namespace

WallTime wall_time_of(std::time_t seconds) {
  constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(WallTime::max());
  return std::min(std::chrono::sys_seconds(std::chrono::seconds(seconds)), kLast);
}

std::string rfc3339(WallTime time) { return in_words<std::chrono::milliseconds>(time, 3); }
std::string rfc3339_micro(WallTime time) { return in_words<std::chrono::microseconds>(time, 6); }

}  // namespace bellwether
