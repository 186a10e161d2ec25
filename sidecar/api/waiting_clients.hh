// Clients that wait for changes of leadership: for the one that answers their question, each until
// its own deadline, or for all of them, as server-sent events (WHATWG HTML, "Server-sent events").
// The applications that are attached are such clients: the open connection is the statement "I am
// here"; the kernel ends it when the process dies, however it dies, and the server says so at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/backend.hh"
#include "api/exchange.hh"
#include "base/clock.hh"

namespace bellwether::api {

// Nothing: there is nothing to say yet.
using Said = std::optional<io::HttpResponse>;

class LongPolls {
 public:
  // A quarter of the connections that the server takes (HttpLimits); the rest is for those that do
  // not wait.
  static constexpr size_t kMaxWaiting = 128;

  // `is_last`: the client waits no longer, so something is said.
  using Answer = std::function<Said(bool is_last)>;

  bool is_full() const { return waiting_.size() >= kMaxWaiting; }
  void add(Instant deadline, Exchange exchange, Answer answer) {
    waiting_.push_back({deadline, std::move(exchange), std::move(answer)});
  }

  // Something has changed, or time has passed.
  void answer(Instant now);

  // Forgets those whose client has gone.
  void drop_gone();

  // The earliest; kNever when nobody waits.
  Instant deadline() const;

 private:
  struct Waiting {
    Instant deadline;
    Exchange exchange;
    Answer answer;
  };
  std::vector<Waiting> waiting_;
};

class EventStreams {
 public:
  // Of those that follow, as with long polls, a quarter of the connections.
  static constexpr size_t kMaxFollowers = 128;
  static constexpr size_t kMaxAttachments = 32;
  // A comment so often keeps proxies from closing a silent stream, and finds clients whose host has
  // gone without a word.  On the unix socket there is neither; and whoever reads nothing there
  // would have its part of the socket full of comments after an hour.
  static constexpr Duration kCommentInterval = std::chrono::seconds(15);

  // At most so many at a time.
  explicit EventStreams(size_t most) : most_(most) {}

  bool is_full() const { return streams_.size() >= most_; }
  // Begins the stream with these events; false when the client has gone already.  Of an attachment:
  // whose it is, and its `token` (see Permission).
  bool open(Exchange exchange, std::string_view events, Instant now,
            const io::HttpClientFacts& client, Attached application = {}, std::string token = "");
  void send(std::string_view event);
  // To each attachment its own.
  void send_to_each(const std::function<std::string(const Attached& application)>& event_for);
  // Ends those whose token is not in force any more; says whether there were any.
  bool end_unless_allowed(const Authority& authority);
  // Forgets those whose client has gone; says whether there were any.
  bool drop_gone();

  // Of all, in the order in which they came.
  std::vector<Attached> applications() const;

  // When on_time() wants to be called; kNever without a stream.
  Instant deadline() const { return streams_.empty() ? kNever : next_comment_; }
  void on_time(Instant now);

 private:
  struct Stream {
    Exchange exchange;
    Attached application;
    std::string token;
    bool is_on_socket = false;
  };
  size_t most_;
  std::vector<Stream> streams_;
  Instant next_comment_ = kNever;
};

}  // namespace bellwether::api
