// The two largest units say enough.
#include "cli/age_text.hh"

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace bellwether::cli {

std::string age_text(Duration age) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  const int64_t ms = std::max<int64_t>(std::chrono::duration_cast<milliseconds>(age).count(), 0);
  constexpr int64_t kTenthOfSecond = 100;
  if (age < seconds(1)) return std::to_string(ms) + "ms";
  if (age < seconds(10)) {
    const int64_t tenths = ms / kTenthOfSecond;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
  }
  const auto pair = [](auto large, const char* large_unit, auto small, const char* small_unit) {
    return std::to_string(large) + large_unit + " " + std::to_string(small) + small_unit;
  };
  const std::chrono::hh_mm_ss parts(floor<seconds>(age));
  if (age < minutes(1)) return std::to_string(parts.seconds().count()) + "s";
  if (age < hours(1)) {
    return pair(parts.minutes().count(), "m", parts.seconds().count(), "s");
  }
  if (age < days(1)) return pair(parts.hours().count(), "h", parts.minutes().count(), "m");
  const auto whole_days = floor<days>(age);
  return pair(whole_days.count(), "d", floor<hours>(age - whole_days).count(), "h");
}

std::optional<Duration> age_of(const std::string& moment) {
  tm date{};
  const char* const rest = ::strptime(moment.c_str(), "%Y-%m-%dT%H:%M:%S", &date);
  if (rest == nullptr || moment.back() != 'Z') return std::nullopt;
  // Neither may be too far away for a count of nanoseconds.
  const std::chrono::sys_seconds then(std::chrono::seconds(::timegm(&date)));
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  if (then > now || then < std::chrono::sys_seconds()) return std::nullopt;
  return now - then;
}

}  // namespace bellwether::cli
