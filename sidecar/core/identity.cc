// How ids are written.  Not by boost/uuid/uuid_io.hpp, which brings the streams with it.
#include "core/identity.hh"

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

}  // namespace bellwether
