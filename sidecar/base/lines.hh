// The lines of a file that people write: what stands in them, without comments.
#pragma once

#include <algorithm>
#include <string_view>

namespace bellwether {

inline std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

// Calls `take(number, line)` for each line, without blanks around it, that is neither empty nor
// begins with '#'; the first line has the number 1.
template <typename Take>
void for_each_line(std::string_view text, const Take& take) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = trimmed(whole);
    if (!line.empty() && !line.starts_with('#')) take(number, line);
  }
}

}  // namespace bellwether
