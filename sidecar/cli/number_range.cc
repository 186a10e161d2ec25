// Reads the whole text or refuses it: "12abc", "1e3", "-1" and " 4" are no numbers here.
#include "cli/number_range.hh"

#include <algorithm>
#include <charconv>
#include <string>

#include "cli/exit_code.hh"

namespace bellwether::cli {
namespace {

constexpr std::string_view kDots = "..";

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace

uint64_t parse_number(std::string_view text, uint64_t low, uint64_t high) {
  const char* const end = text.data() + text.size();
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string limits =
      "; give numbers from " + std::to_string(low) + " to " + std::to_string(high);
  if (rest != end || error == std::errc::invalid_argument) {
    throw UsageError(quoted(text) + " is not a number" + limits);
  }
  if (error == std::errc::result_out_of_range || number < low || number > high) {
    throw UsageError(std::string(text) + " is out of range" + limits);
  }
  return number;
}

NumberRange parse_range(std::string_view text, uint64_t low, uint64_t high) {
  const size_t dots = text.find(kDots);
  if (dots == std::string_view::npos) {
    const uint64_t number = parse_number(text, low, high);
    return {number, number};
  }
  const NumberRange range{parse_number(text.substr(0, dots), low, high),
                          parse_number(text.substr(dots + kDots.size()), low, high)};
  if (range.first > range.last) {
    throw UsageError(quoted(text) + " is empty; the smaller number comes first");
  }
  return range;
}

std::vector<NumberRange> parse_ranges(std::string_view text, uint64_t low, uint64_t high) {
  std::vector<NumberRange> ranges;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    ranges.push_back(parse_range(text.substr(begin, comma - begin), low, high));
    begin = comma + 1;
  }
  return ranges;
}

}  // namespace bellwether::cli
