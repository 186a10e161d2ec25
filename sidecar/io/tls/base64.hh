// Base64 (RFC 4648, section 4), by OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/undumped_memory.hh"

namespace bellwether::io {

std::string to_base64(std::string_view bytes);

// With or without the '=' at its end; nothing when it is anything else.
std::optional<SecretText> from_base64(std::string_view text);

}  // namespace bellwether::io
