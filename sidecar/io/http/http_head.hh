// The head of a response as bytes.  Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "io/http/http_message.hh"

namespace bellwether {

struct HttpHead {
  unsigned status = 200;
  std::string_view content_type{};
  std::optional<size_t> content_length{};  // none: chunked, or until the connection is closed
  bool is_chunked = false;
  bool is_kept_alive = false;
};

// Whether a response of this status may have a body.
bool may_have_body(unsigned status);

// A control character in a header, which could end it, becomes a blank.
std::string to_bytes(const HttpHead& head, const HttpHeaders& headers);

}  // namespace bellwether
