// The target of a request: what stands between the method and the version in its first line.
// Pure.  A target that two programs could read differently is refused, not repaired.
#pragma once

#include <string>
#include <string_view>

#include "io/http/http_message.hh"

namespace bellwether {

// Fills path and query of `request` from `target` and returns nullptr, or returns what is wrong, as
// a phrase for the client.  Method and headers are there already: "*" is for OPTIONS, and the host
// of a whole URL (http://host/path) must be the one in the Host header, which callers judge.
const char* read_target(std::string_view target, HttpRequest& request);

// Replaces each %XX in `text`.  False when one is no two hexadecimal digits, or stands for a
// control character (NUL, line ends, …).
bool percent_decode(std::string_view text, std::string& result);

// The opposite: everything but letters, digits and "-._~" becomes %XX.
std::string percent_encode(std::string_view text);

}  // namespace bellwether
