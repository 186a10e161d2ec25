// How ids are written.  Not by boost/uuid/uuid_io.hpp, which brings the streams with it.
#include "core/identity.hh"

#include <boost/uuid/string_generator.hpp>
#include <stdexcept>

namespace bellwether {

std::string to_string(const Uuid& id) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHexDigits[id.data[i] >> 4U];
    text += kHexDigits[id.data[i] & 0xfU];
  }
  return text;
}

// Boost reads braces and capitals as well, which would make two texts of one id.
std::optional<Uuid> parse_uuid(const std::string& text) {
  constexpr size_t kLength = 36;
  if (text.size() != kLength) return std::nullopt;
  try {
    const Uuid id = boost::uuids::string_generator()(text);
    return to_string(id) == text ? std::optional(id) : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

}  // namespace bellwether
