// An HTTP/1.1 client on the event loop: one request at a time, over a connection of its own or one
// that was kept, TCP or unix, and an answer or an error in bounded time, or an answer without an
// end as it comes.
//
// It follows no redirect, and sends nothing twice.  A kept connection that its server has ended is
// replaced before a request is sent; where that crosses with the request, the request has failed.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/http/http_message.hh"
#include "io/http/http_response_reader.hh"
#include "io/http/http_url.hh"
#include "io/loop/byte_stream.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/resolver.hh"

namespace bellwether::io {

struct HttpClientRequest {
  std::string method = "GET";
  std::string url;  // http_url.hh says which
  // Without Host, Content-Length and Connection, which the client adds.
  HttpHeaders headers{};
  SecretText authorization{};                  // the value of the header of this name; "": without
  SecretText body{};                           // a login has a password in it
  TlsContextPtr tls{};                         // of_http_client(); an https URL needs it
  Duration timeout = std::chrono::seconds(5);  // of everything together
  size_t max_body_bytes = size_t{64} * 1024;   // of the answer; the rest is cut
  // Where it is set, the body of an answer with status 200 goes here as it comes, for as long as it
  // comes: the timeout is for the head.  A piece may be empty: so the first one is, when the head
  // comes alone.  May not destroy the client, and may pause() it.
  std::function<void(std::string_view)> on_piece{};
  // With on_piece, and then not zero: such an answer fails (kTimeout) when nothing has come for so
  // long.
  Duration idle_timeout{};
  // How long after a whole answer the connection waits for the next request to the same server with
  // the same `tls`; zero: it is closed.
  Duration keep_for{};
};

enum class HttpFailure : uint8_t {
  kNone,
  kUrl,
  kUnreachable,  // its name has no address, or nobody can be connected to
  kBroken,       // the connection
  kTls,          // one side does not believe the other, or what TLS needs is not there
  kCutOff,       // the answer, or all of it
  kNotHttp,
  kTimeout,
};

struct HttpClientResult {
  HttpAnswer answer{};  // when nothing failed
  HttpFailure failure = HttpFailure::kNone;
  std::string why{};    // the cause alone: "connection refused"
  std::string error{};  // a phrase that names the server: "cannot connect to a:80: ..."
};

class HttpClient final : private ByteStream::Owner {
 public:
  using Done = std::function<void(HttpClientResult)>;

  // `resolver` must outlive the client.
  HttpClient(Loop& loop, Resolver& resolver);
  // What is under way ends without a word.
  ~HttpClient() override = default;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Calls `done` once, from within the loop; it may send the next request, but not destroy the
  // client.  Only when the client is not busy, and not from within on_piece().
  void send(HttpClientRequest request, Done done);
  bool is_busy() const { return done_ != nullptr; }

  // Ends what is under way, without a word to `done`, and what was kept: a late answer finds
  // nobody. Not from within on_piece().
  void drop();

  // For whoever is behind with what on_piece() was told: nothing more is read, the kernel soon
  // takes no more of the server, and no silence counts, until resume().  Neither does anything
  // while there is no such answer.
  void pause();
  void resume();

 private:
  void on_bytes(std::string_view bytes) override;
  void on_end(int status) override;
  void on_drained() override {}

  void find_addresses();
  void try_addresses(std::vector<SocketAddress> addresses);
  void try_next_address();
  void connect_to_socket();
  void on_connected(int status);
  bool can_use_kept() const;
  void send_on_stream();
  bool is_stream();
  void pass_on();
  void refuse(HttpFailure failure);
  void fail_by_tls(const std::string& why);
  void on_due();
  void note_failure(const std::string& why);
  void finish(HttpClientResult result);
  std::string server() const;

  Loop& loop_;
  Resolver& resolver_;
  HttpClientRequest request_;
  HttpUrl url_;
  Instant deadline_ = kNever;
  Done done_;  // while busy
  bool is_paused_ = false;
  std::optional<HttpClientResult> result_;
  std::vector<SocketAddress> addresses_;  // that were not tried yet, the next one last
  HttpClientResult failure_;              // of the address that was tried last
  std::optional<HttpResponseReader> reader_;
  // Whom stream_ is connected to.
  HttpUrl connected_to_;
  TlsContextPtr connected_by_;
  std::array<char, size_t{16} * 1024> buffer_{};
  Lookup lookup_;
  LoopTimer timer_;
  ByteStream::Handle connecting_;
  std::optional<ByteStream> stream_;
};

}  // namespace bellwether::io
