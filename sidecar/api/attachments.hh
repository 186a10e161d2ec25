// Applications that are attached to this sidecar: each holds a request open whose answer is a
// stream of server-sent events.  The open connection is the statement "I am here"; the kernel ends
// it when the process dies, however it dies, and the server says so at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/exchange.hh"
#include "base/clock.hh"

namespace bellwether::api {

// 1 to 64 letters, digits, '-', '.' and '_'.
bool is_attachment_name(std::string_view name);

class Attachments {
 public:
  static constexpr size_t kMax = 32;
  // A comment so often finds clients whose host has gone without a word.
  static constexpr Duration kCommentInterval = std::chrono::seconds(15);

  bool is_full() const { return all_.size() >= kMax; }
  // Begins the stream with these events; false when the client has gone already.  `token`: see
  // Permission.
  bool open(Exchange exchange, const std::string& name, std::string token, std::string_view events,
            Instant now);
  void send(std::string_view event);
  // Ends those whose token is not in force any more; says whether there were any.
  bool end_unless_allowed(const Authority& authority);
  // Forgets those whose client has gone; says whether there were any.
  bool drop_gone();

  // Of all, in the order in which they came.
  std::vector<std::string> names() const;

  // When on_time() wants to be called; kNever without any.
  Instant deadline() const { return all_.empty() ? kNever : next_comment_; }
  void on_time(Instant now);

 private:
  struct Attachment {
    std::string name;
    std::string token;
    Exchange exchange;
  };
  std::vector<Attachment> all_;
  Instant next_comment_ = kNever;
};

}  // namespace bellwether::api
