// An HTTP/1.1 server on the event loop.  It knows nothing of routes: it reads requests within fixed
// limits and hands each to a handler, which answers at once, later, or with a stream.
//
// A request that waits is named by a number, not by a pointer: what is said to a client that has
// gone away in the meantime goes nowhere.  A connection has one request at a time; what the client
// sends ahead (pipelining) waits as bytes, few of them, so answers are in order by themselves.
//
// Every response forbids caches to keep it and browsers to guess its type.  Whom to serve, by Host
// or Origin, is the handler's business.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/host_port.hh"
#include "base/undumped_memory.hh"
#include "io/http/http_connection.hh"
#include "io/http/http_message.hh"
#include "io/loop/files.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/listening.hh"

namespace bellwether::io {

class HttpServer;

// Where the answer to one request goes; a value that may be kept and copied, and compared: replies
// of one server are equal when they answer the same request.  Not to be used after its server is
// gone.  None of these functions calls on_request() or on_gone(): those come from the loop.
class HttpReply {
 public:
  // False once the client has gone, or when the answer is complete.
  bool is_open() const;
  // The whole answer, once.  A body is left out where HTTP asks for that (HEAD, 204, 304).
  void send(HttpResponse response) const;
  // Or an answer without an end: the head now (status 200), then as many pieces as there will be.
  // For HEAD, the head is all.
  void begin_stream(std::string_view content_type) const;
  // False when the client has gone, or was closed because it does not read.
  bool write(std::string_view piece) const;
  // Ends a stream properly; the connection is closed when the client has read it all.
  void end_stream() const;

  friend auto operator<=>(const HttpReply&, const HttpReply&) = default;

 private:
  friend class HttpServer;
  HttpReply(HttpServer& server, uint64_t request) : server_(&server), request_(request) {}

  HttpServer* server_;
  uint64_t request_;
};

// What the server tells its owner, from within the loop.  None of these may destroy the server.
class HttpListener {
 public:
  virtual ~HttpListener() = default;
  // `reply` may be used at once or later; `request` lives until this returns.
  virtual void on_request(const HttpRequest& request, HttpReply reply) = 0;
  // The client of a request that was not answered yet, or of a stream, has gone: once, also when
  // write() has returned false.  A client that closes its direction before it has its answer counts
  // as gone.
  virtual void on_gone(HttpReply /*reply*/) {}
  // Refused before it became a request (400, 408, 413, 431, 503); the server has answered it.
  virtual void on_refused(unsigned status) = 0;
  virtual void on_limit(Limit limit) = 0;
  // A client, host:port, that TLS has ended the connection with.
  virtual void on_tls_refused(const TlsFlaw& /*flaw*/, const std::string& /*client*/) {}
};

class HttpServer final : private HttpConnection::Owner {
 public:
  // `listener` must outlive the server.
  HttpServer(Loop& loop, HttpListener& listener, const HttpLimits& limits = {});
  // Closes everything at once, without a word to the listener.
  ~HttpServer() override = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Serves here, too.  `place.host` is a numeric address, or a name that getaddrinfo(3) resolves
  // now (all its addresses; this blocks).  Port 0: any free one.  Returns the port.  Throws
  // AddressError.
  uint16_t listen(const HostPort& place);
  // From now on clients over TCP are served by TLS alone; with nullptr, none until there is one.
  // Those that were let in before have their answers, and their streams, and no further request.
  void secure(TlsContextPtr tls);
  // HttpLimits::unacknowledged from now on, also for the streams that there are.
  void set_patience(Duration unacknowledged);
  // A unix socket of mode 0660; a stale one at `path` is replaced, one that is in use or another
  // kind of file is not.  Removed at the end.  Throws AddressError.
  void listen_on_socket(const std::string& path);
  // Of that; nullptr: there is none.
  const MadeFile* socket_file() const { return socket_file_ ? &socket_file_->file() : nullptr; }
  // Makes those that connect to that path reach this server, where its loss() says they do not.
  FileLook make_good(std::string loss);

  // Takes no more connections or requests, and closes every connection that has no answer to wait
  // for.  Streams go on until end_stream() or the end of the server.  With what is returned, which
  // may be nullptr, the unix socket's file goes; that blocks for as long as the disk does.
  std::unique_ptr<UnixSocketFile> stop_listening();

 private:
  friend class HttpReply;
  static constexpr size_t kReceiveBytes = size_t{16} * 1024;
  using Pipe = UvPtr<uv_pipe_t>;
  using Tcp = UvPtr<uv_tcp_t>;

  // Whose answer is still to be given, or goes on; nullptr when there is none.
  HttpConnection* find(uint64_t request);
  int try_to_listen(const SocketAddress& address);
  static void on_client(uv_stream_t* socket, int error);
  void accept_paced(uv_stream_t* socket);
  void begin_turn();
  void accept(uv_stream_t* socket);
  size_t open_connections() const { return connections_.size() - closed_.size(); }
  void make_room();
  void make_room_for_handshake();
  void go_on_with_held();

  void on_request(HttpConnection& connection, const HttpRequest& request) override;
  void on_refused(unsigned status) override { listener_.on_refused(status); }
  void on_limit(Limit limit) override { listener_.on_limit(limit); }
  void on_tls_refused(const TlsFlaw& flaw, const std::string& client) override {
    listener_.on_tls_refused(flaw, client);
  }
  void on_held(HttpConnection& connection) override;
  void on_closed(HttpConnection& connection) override;
  bool has_time() override;
  bool has_time_for_tls() override;
  void say_farewell();

  Loop& loop_;
  HttpListener& listener_;
  HttpLimits limits_;
  UndumpedVector<char> buffer_ = UndumpedVector<char>(kReceiveBytes);  // for tokens, too
  uint32_t last_number_ = 0;
  std::unordered_map<uint32_t, std::unique_ptr<HttpConnection>> connections_;
  std::vector<uint32_t> closed_;  // of those, until the loop's next turn
  std::unique_ptr<UnixSocketFile> socket_file_;
  LoopTimer farewell_;
  int accepted_ = 0;                          // in this turn of the loop
  Instant time_is_up_ = kNever;               // the same; kNever: nothing was asked yet
  std::vector<uv_stream_t*> paused_;          // listening sockets, until the next turn
  std::vector<uint32_t> held_;                // connections with bytes by TLS, the same
  std::optional<SocketAddress> served_last_;  // where one of those was
  std::optional<Instant> tls_until_;          // while they go on
  bool is_secured_ = false;
  TlsContextPtr tls_;  // shared with all connections that were made with it
  LoopTimer next_turn_;
  DeadlineTimer held_turn_;
  Pipe pipe_;
  std::vector<Tcp> sockets_;
};

}  // namespace bellwether::io
