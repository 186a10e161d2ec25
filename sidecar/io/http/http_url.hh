// URLs that the HTTP client can reach, and targets, which stand between the method and the version
// in the first line of a request: what two programs could read differently is refused, not
// repaired.  Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/http/http_message.hh"

namespace bellwether::io {

struct HttpUrl {
  std::string host;  // as an address without brackets, or a name; "localhost" for a unix socket
  uint16_t port = 80;
  bool is_https = false;
  std::string target = "/";  // path and query, as in the URL
  std::string socket_path;   // of a unix socket; empty: TCP

  // What belongs into the Host header.
  std::string host_header() const;
};

// Fills `url` from http[s]://host[:port][/path][?query] or http+unix://%2Fpath%2Fof%2Fsocket[/path]
// and returns "", or returns what is wrong with the text, as a phrase that follows it.
std::string parse_http_url(std::string_view text, HttpUrl& url);

// Fills path and query of `request` from `target` and returns nullptr, or returns what is wrong, as
// a phrase for the client.  Method and headers are there already: "*" is for OPTIONS, and the host
// of a whole URL (http://host/path) must be the one in the Host header, which callers judge.
const char* read_target(std::string_view target, HttpRequest& request);

// Replaces each %XX in `text`.  False when one is no two hexadecimal digits, or stands for a
// control character (NUL, line ends, …).
bool percent_decode(std::string_view text, std::string& result);

// The opposite: everything but letters, digits and "-._~" becomes %XX.
std::string percent_encode(std::string_view text);

}  // namespace bellwether::io
