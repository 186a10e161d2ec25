// One client's connection to the HTTP server: reads a request, hands it over, writes its answer,
// and only then looks at the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "io/http/http_message.hh"
#include "io/http/http_reader.hh"
#include "io/loop/byte_stream.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io {

class HttpConnection final : private ByteStream::Owner {
 public:
  // Called from within the loop but for on_limit() and on_closed(), which can come from within any
  // function of the connection.  None may destroy it.
  class Owner {
   public:
    virtual ~Owner() = default;
    // To be answered by respond() or begin_stream(), now or later.
    virtual void on_request(HttpConnection& connection, const HttpRequest& request) = 0;
    virtual void on_refused(unsigned status) = 0;
    virtual void on_limit(Limit limit) = 0;
    // By TLS, in the handshake or after it; the connection is closed then.
    virtual void on_tls_refused(const TlsFlaw& flaw, const std::string& client) = 0;
    // It has received more by TLS than there was time for in this turn: go_on() in the next one.
    virtual void on_held(HttpConnection& connection) = 0;
    // Once; the connection is of no more use.
    virtual void on_closed(HttpConnection& connection) = 0;
    // False when the requests of all connections have had their time in this turn of the loop.
    virtual bool has_time() = 0;
    // The same of what comes by TLS, which leaves requests a part of it.
    virtual bool has_time_for_tls() = 0;
  };

  struct Settings {
    uint32_t number = 0;  // unique among the owner's connections
    bool is_over_unix_socket = false;
    const HttpLimits& limits;
    std::span<char> buffer;  // to receive in; can be shared by all connections
    TlsContextPtr tls{};     // nullptr: plain
  };

  HttpConnection(Loop& loop, Owner& owner, ByteStream::Handle handle, const Settings& settings);
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // One of the two, first of all: serve the client, or tell it that there are too many.
  void serve() { await_bytes(); }
  void turn_away();

  uint32_t number() const { return number_; }
  // Names the latest request, among those of all connections.
  uint64_t request() const { return uint64_t{number_} << 32 | request_count_; }
  // The latest request waits for its answer, or has a stream.  After the connection was closed:
  // it was so until then.
  bool is_awaited() const { return is_awaited_; }
  bool is_closed() const { return state_ == State::kClosed; }
  // Since when it has waited for its client, which owes a request or has an answer to read; kNever
  // while the client waits, and of one that is turned away or closed.
  Instant waits_since() const {
    return is_awaited_ || is_turned_away_ || is_closed() ? kNever : waits_since_;
  }

  void respond(const HttpResponse& response);
  void begin_stream(std::string_view content_type);
  bool write(std::string_view piece);
  void end_stream();
  // HttpLimits::unacknowledged is another one now.
  void take_patience();

  // Takes no further request, and ends as soon as no answer is due.
  void stop();
  // With what on_held() was told of.
  void go_on() { stream_.go_on(); }
  bool is_over_tls() const { return stream_.tls() != nullptr; }
  // The handshake of TLS is not over yet.
  bool is_in_handshake() const {
    return !is_closed() && is_over_tls() && !stream_.tls()->is_established();
  }
  // Where its client is; nothing: not on a network.
  const std::optional<SocketAddress>& neighbourhood() const { return neighbourhood_; }
  bool is_over_unix_socket() const { return is_over_unix_socket_; }
  // Ends at once, without a word: another client needs the room.
  void give_way() { close(); }

 private:
  enum class State {
    kReceiving,  // a request, or waiting for one
    kAnswering,  // the owner has a request
    kStreaming,
    kClosing,  // all is said; what the client still sends is dropped
    kClosed,
  };
  // What the timer is armed for.
  enum class Wait { kNothing, kIdle, kRequest, kReader, kLinger, kNextTurn };

  void on_bytes(std::string_view bytes) override;
  void on_end(int status) override;
  void on_drained() override;
  bool has_time_for_tls() override;
  void on_due();

  void proceed();
  void hand_over();
  void read_if_useful();
  void await_bytes();
  void await_reader();
  void refuse(const HttpRefusal& refusal);
  HttpClientFacts client() const;
  void send(const HttpHead& head, const HttpHeaders& headers, std::string_view body);
  void end_answer();
  void begin_closing();
  void close();
  void wait_for(Wait wait, Duration time);

  Owner& owner_;
  const HttpLimits& limits_;
  const uint32_t number_;
  const bool is_over_unix_socket_;
  uint32_t request_count_ = 0;
  State state_ = State::kReceiving;
  Wait wait_ = Wait::kNothing;
  bool is_awaited_ = false;
  bool is_proceeding_ = false;
  bool is_stopping_ = false;
  bool is_turned_away_ = false;
  bool has_ended_ = false;  // the client sends no more
  bool is_head_request_ = false;
  bool is_post_ = false;
  bool is_chunked_ = false;
  bool is_kept_alive_ = false;
  size_t unsent_bytes_ = 0;  // when the timer was armed for the client to read
  Instant waits_since_ = kNever;
  HttpReader reader_;
  DeadlineTimer timer_;  // a request that waits in the kernel has come in time
  ByteStream stream_;
  const HttpClientFacts client_;
  const std::optional<SocketAddress> neighbourhood_;
};

}  // namespace bellwether::io
