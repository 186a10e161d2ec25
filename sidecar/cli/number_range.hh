// Numbers as people give them on a command line: "7", "4..28", "4,6,10..14".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bellwether::cli {

struct NumberRange {
  uint64_t first = 0;
  uint64_t last = 0;  // not below first

  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

// "N" with low <= N <= high; throws UsageError.
uint64_t parse_number(std::string_view text, uint64_t low, uint64_t high);

// "A" or "A..B" with low <= A <= B <= high; throws UsageError.
NumberRange parse_range(std::string_view text, uint64_t low, uint64_t high);

// Ranges separated by commas; throws UsageError.
std::vector<NumberRange> parse_ranges(std::string_view text, uint64_t low, uint64_t high);

}  // namespace bellwether::cli
