// The civil date comes from <chrono>, which knows the calendar but cannot print it yet.
#include "base/wall_time.hh"

#include <array>
#include <cstdio>

namespace bellwether {

std::string rfc3339(WallTime time) {
  using std::chrono::days;
  using std::chrono::milliseconds;
  const auto since_1970 = std::chrono::floor<milliseconds>(time);
  const auto day = std::chrono::floor<days>(since_1970);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(since_1970 - day);
  std::array<char, 64> text{};  // more than the numbers' types can fill
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

}  // namespace bellwether
