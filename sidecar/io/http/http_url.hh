// URLs that the HTTP client can reach.  Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bellwether {

struct HttpUrl {
  std::string host;  // as an address without brackets, or a name; "localhost" for a unix socket
  uint16_t port = 80;
  std::string target = "/";  // path and query, as in the URL
  std::string socket_path;   // of a unix socket; empty: TCP

  // What belongs into the Host header.
  std::string host_header() const;
};

// Fills `url` from http://host[:port][/path][?query] or http+unix://%2Fpath%2Fof%2Fsocket[/path]
// and returns "", or returns what is wrong with the text, as a phrase that follows it.  https is
// not spoken here.
std::string parse_http_url(std::string_view text, HttpUrl& url);

}  // namespace bellwether
