// An HTTP/1.1 server on the event loop.  It knows nothing of routes: it reads requests within fixed
// limits and hands each to a handler, which answers at once, later, or with a stream.
//
// A request that waits is named by a number, not by a pointer: what is said to a client that has
// gone away in the meantime goes nowhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/host_port.hh"
#include "io/loop.hh"

namespace bellwether {

// Bounds that hold for every client.
struct HttpLimits {
  size_t header_bytes = 8 * 1024;
  size_t body_bytes = 16 * 1024;
  size_t connections = 512;
  size_t unsent_bytes = 256 * 1024;          // of one connection; who reads more slowly is closed
  Duration idle = std::chrono::seconds(60);  // between two requests
  Duration request = std::chrono::seconds(10);  // from a request's first byte to its last
};

enum class HttpLimit : uint8_t { kConnections, kHeader, kBody, kIdle, kUnsent };

struct HttpRequest {
  std::string method;
  std::string path;                          // percent-decoded, without the query
  std::map<std::string, std::string> query;  // percent-decoded
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool is_over_unix_socket = false;

  // The first header of this name, whatever its case; nullptr when there is none.
  const std::string* header(std::string_view name) const;
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};
};

class HttpServer;

// Where the answer to one request goes; a value that may be kept and copied.  Not to be used after
// its server is gone.
class HttpReply {
 public:
  // False once the client has gone, or when the answer is complete.
  bool is_open() const;
  // The whole answer, once.  A body is left out where HTTP asks for that (HEAD, 204).
  void send(HttpResponse response) const;
  // Or an answer without an end: the head now, then as many pieces as there will be.  Returns
  // false when the client has gone, or was closed because it does not read.
  void begin_stream(std::string_view content_type) const;
  bool write(std::string_view piece) const;

 private:
  friend class HttpServer;
  HttpReply(HttpServer& server, uint64_t request) : server_(&server), request_(request) {}

  HttpServer* server_;
  uint64_t request_;
};

// What the server tells its owner, from within the loop.
class HttpListener {
 public:
  virtual ~HttpListener() = default;
  // `reply` may be used at once or later.
  virtual void on_request(const HttpRequest& request, HttpReply reply) = 0;
  // The client of a request that was not answered yet, or of a stream, has gone.
  virtual void on_gone(HttpReply /*reply*/) {}
  // Refused before it became a request (400, 408, 413, 431, 503); the server has answered it.
  virtual void on_refused(unsigned status) = 0;
  virtual void on_limit(HttpLimit limit) = 0;
};

class HttpServer {
 public:
  // `listener` must outlive the server.
  HttpServer(Loop& loop, HttpListener& listener, const HttpLimits& limits = {});
  // Closes everything at once.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Serves here, too.  `address.host` is a numeric address, or a name that getaddrinfo(3) resolves
  // now.  Port 0: any free one.  Returns the port.  Throws std::system_error whose text names the
  // address.
  uint16_t listen(const HostPort& address);
  // A unix socket of mode 0660; a stale one at `path` is replaced, one that is in use or another
  // kind of file is not.  Removed at the end.  Throws std::system_error whose text names the path.
  void listen_on_socket(const std::string& path);

  // Takes no more connections or requests, and closes every connection that has no answer to wait
  // for.
  void stop_listening();

 private:
  friend class HttpReply;
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bellwether
