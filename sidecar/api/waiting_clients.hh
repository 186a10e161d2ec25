// Clients that wait for changes of leadership: for the next one, each until its own deadline, or
// for all of them, as server-sent events (WHATWG HTML, "Server-sent events").
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "api/exchange.hh"
#include "base/clock.hh"

namespace bellwether::api {

class LongPolls {
 public:
  // A quarter of the connections that the server takes (HttpLimits); the rest is for those that do
  // not wait.
  static constexpr size_t kMaxWaiting = 128;

  bool is_full() const { return waiting_.size() >= kMaxWaiting; }
  void add(Instant deadline, Exchange exchange) {
    waiting_.push_back({deadline, std::move(exchange)});
  }

  // Those that wait no longer, to be answered: those whose deadline has passed; or all of them.
  std::vector<Exchange> take_due(Instant now);
  std::vector<Exchange> take_all() { return take_due(kNever); }

  // Forgets those whose client has gone.
  void drop_gone();

  // The earliest; kNever when nobody waits.
  Instant deadline() const;

 private:
  struct Waiting {
    Instant deadline;
    Exchange exchange;
  };
  std::vector<Waiting> waiting_;
};

class EventStreams {
 public:
  // As with long polls, a quarter of the connections.
  static constexpr size_t kMaxStreams = 128;
  // A comment so often keeps proxies from closing a silent stream, and finds clients that have
  // gone.
  static constexpr Duration kCommentInterval = std::chrono::seconds(15);

  bool is_full() const { return streams_.size() >= kMaxStreams; }

  // Begins the stream with these events.
  void open(Exchange exchange, std::string_view events, Instant now);
  void send(std::string_view event);

  // When on_time() wants to be called; kNever without a stream.
  Instant deadline() const { return streams_.empty() ? kNever : next_comment_; }
  void on_time(Instant now);

  // Forgets those whose client has gone.
  void drop_gone();

 private:
  std::vector<Exchange> streams_;
  Instant next_comment_ = kNever;
};

}  // namespace bellwether::api
