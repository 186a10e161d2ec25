// Letters and digits by their bytes; no locale is asked.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace bellwether {

constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = to_lower(c);
  return result;
}

// Whether the two are the same but for upper and lower case.
inline bool equals_ignoring_case(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char a, char b) { return to_lower(a) == to_lower(b); });
}

// The number that all of `text` is; nothing when it is anything else, or too large for its type.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, base);
  if (error != std::errc{} || end != last) return std::nullopt;
  return number;
}

}  // namespace bellwether
