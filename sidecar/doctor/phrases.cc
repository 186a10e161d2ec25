// Lists, plurals and units.
#include "doctor/phrases.hh"

#include <fmt/core.h>

namespace bellwether::doctor {
namespace {

std::string with_unit(double number, const char* unit) {
  constexpr double kShowsNoFraction = 10;
  return number < kShowsNoFraction ? fmt::format("{:.2g}{}", number, unit)
                                   : fmt::format("{:.0f}{}", number, unit);
}

}  // namespace

std::string listed(const std::vector<std::string>& words, size_t limit) {
  // "and 1 other" is no shorter than its name.
  const size_t shown = words.size() > limit + 1 ? limit : words.size();
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == words.size();
    if (i > 0) text += is_last ? " and " : ", ";
    text += words[i];
  }
  if (shown < words.size()) text += fmt::format(" and {} others", words.size() - shown);
  return text;
}

std::string counted(size_t count, const std::string& noun) {
  const char* const ending = count == 1 ? "" : noun.ends_with("s") ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

std::string time_text(Duration duration) {
  const std::chrono::duration<double> seconds = duration;
  constexpr double kMillisecondsPerSecond = 1000;
  if (duration < std::chrono::seconds(1)) {
    return with_unit(seconds.count() * kMillisecondsPerSecond, "ms");
  }
  return with_unit(seconds.count(), "s");
}

std::string size_text(uint64_t bytes) {
  constexpr double kStep = 1024;
  auto number = static_cast<double>(bytes);
  const char* unit = " bytes";
  for (const char* next : {" KiB", " MiB", " GiB", " TiB"}) {
    if (number < kStep) break;
    number /= kStep;
    unit = next;
  }
  return with_unit(number, unit);
}

}  // namespace bellwether::doctor
