// Letters and digits by their bytes; no locale is asked.
#pragma once

namespace bellwether {

constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace bellwether
