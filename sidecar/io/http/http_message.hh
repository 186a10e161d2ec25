// Requests and responses of HTTP as plain values, and the bounds that hold for a server's clients.
// Pure: no socket is known here.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hh"
#include "base/counted.hh"
#include "base/undumped_memory.hh"
#include "io/names/peer_process.hh"

namespace bellwether::io {

// In the order of the wire; a name may come more than once.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The first header of this name, whatever its case; nullptr when there is none.
const std::string* find_header(const HttpHeaders& headers, std::string_view name);

// Bounds that hold for every client.
struct HttpLimits {
  // Of the request line, all headers, and the lines around the chunks of a body.
  size_t header_bytes = size_t{8} * 1024;
  size_t body_bytes = size_t{16} * 1024;
  size_t connections = 512;  // beyond it the one that waits longest gives way
  // Of those, by TLS and without the end of their handshake; beyond it one of the host that has
  // most of them gives way.  Each takes 100 KiB.
  size_t handshakes = 64;
  size_t unsent_bytes = size_t{64} * 1024;  // of one stream; who reads more slowly is closed
  // From connecting to a byte of a request, a handshake included, if that is less.
  Duration first = std::chrono::seconds(10);
  Duration idle = std::chrono::seconds(60);     // between two requests, or without reading a byte
  Duration request = std::chrono::seconds(10);  // from a request's first byte to its last
  // Over TCP: a client that holds the answer to a POST open, and whose host has not acknowledged a
  // word for so long, has gone.
  Duration unacknowledged = std::chrono::milliseconds(1500);
};

// Who asks.
struct HttpClientFacts {
  std::string address;                 // host:port in numbers; empty on the unix socket
  std::optional<PeerProcess> process;  // on the unix socket
  // Whose certificate was verified, and is valid now; nothing: none was shown.
  std::optional<std::string> certificate{};
};

struct HttpRequest {
  std::string method;
  std::string path;  // percent-decoded, but for "%2F" and "%25" in it; without the query
  std::map<std::string, std::string> query;  // percent-decoded; of a repeated key the first value
  HttpHeaders headers;                       // without Authorization
  SecretText authorization{};                // of the header of this name; "": there is none
  std::string body;
  bool is_over_unix_socket = false;
  bool is_over_tls = false;
  HttpClientFacts client{};

  // The first header of this name, whatever its case; nullptr when there is none.
  const std::string* header(std::string_view name) const { return find_header(headers, name); }
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  HttpHeaders headers{};
};

// "Not Found" for 404; "" for a status that nobody here uses.
const char* reason_phrase(unsigned status);

// The head of a response.
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

}  // namespace bellwether::io
