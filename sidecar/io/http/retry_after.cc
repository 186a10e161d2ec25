// Both forms of RFC 9110, section 10.2.3.
#include "io/http/retry_after.hh"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <string>

namespace bellwether::io {
namespace {

// Longer than any that is honoured, and far from overflow.
constexpr int64_t kMostSeconds = 1'000'000;

std::optional<Duration> read_seconds(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  int64_t seconds = kMostSeconds;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(std::min(seconds, kMostSeconds));
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<Duration> read_date(const std::string& text, WallTime now) {
  std::tm date{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return {};
  const int64_t seconds = ::timegm(&date) - std::chrono::system_clock::to_time_t(now);
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kMostSeconds));
}

}  // namespace

std::optional<Duration> retry_after(const HttpAnswer& answer, WallTime now) {
  const std::string* text = answer.header("Retry-After");
  if (text == nullptr) return {};
  const std::optional<Duration> seconds = read_seconds(*text);
  return seconds ? seconds : read_date(*text, now);
}

}  // namespace bellwether::io
