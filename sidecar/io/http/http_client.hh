// An HTTP/1.1 client on the event loop: one request at a time, each over a connection of its own,
// and an answer or an error in bounded time.  Nothing blocks; names are looked up by somebody else.
//
// It speaks no TLS and follows no redirect.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/http/http_message.hh"
#include "io/http/http_response_reader.hh"
#include "io/http/http_url.hh"
#include "io/loop/byte_stream.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/address_lookup.hh"

namespace bellwether {

struct HttpClientRequest {
  std::string method = "GET";
  std::string url;  // http_url.hh says which
  // Without Host, Content-Length and Connection, which the client adds.
  HttpHeaders headers{};
  std::string body{};
  Duration timeout = std::chrono::seconds(5);  // of everything together
};

struct HttpClientResult {
  HttpAnswer answer{};  // when there is no error
  std::string error{};  // a phrase ("cannot connect to ...: connection refused")
  bool is_timeout = false;
};

class HttpClient final : private ByteStream::Owner {
 public:
  using Done = std::function<void(HttpClientResult)>;

  // `lookup` must outlive the client.
  HttpClient(Loop& loop, AddressLookup& lookup);
  // What is under way ends without a word.
  ~HttpClient() override;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Calls `done` once, from within the loop; it may send the next request, but not destroy the
  // client.  Only when the client is not busy.
  void send(const HttpClientRequest& request, Done done);
  bool is_busy() const { return done_ != nullptr; }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_end(int status) override;
  void on_drained() override {}

  static void on_connect_ended(uv_connect_t* ended, int status);
  void find_addresses();
  void on_addresses(std::vector<sockaddr_storage> addresses, const std::string& error);
  void try_next_address();
  void connect_to_address(const sockaddr_storage& address);
  void connect_to_socket();
  void on_connected(int status);
  void on_due();
  void finish(HttpClientResult result);
  void fail(const std::string& error) { finish({.error = error}); }
  std::string server() const;

  Loop& loop_;
  AddressLookup& lookup_;
  HttpUrl url_;
  std::string head_;
  std::string body_;
  Instant deadline_ = kNever;
  Done done_;  // while busy
  std::optional<HttpClientResult> result_;
  std::vector<sockaddr_storage> addresses_;  // that were not tried yet, the next one last
  std::string failure_;                      // of the address that was tried last
  std::optional<HttpResponseReader> reader_;
  std::array<char, size_t{16} * 1024> buffer_{};
  // Callbacks of look-ups share it weakly: they may come when their request is over.
  std::shared_ptr<HttpClient*> lookup_token_;
  LoopTimer timer_;
  ByteStream::Handle connecting_;
  std::optional<ByteStream> stream_;
};

}  // namespace bellwether
