// Requests out of bytes.  Pure: bytes go in, and what came of them is asked for; no socket is known
// here.  The bytes are a stranger's: memory is bounded by the limits, and whatever a proxy between
// us and the client could understand differently is refused (request smuggling).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/undumped_memory.hh"
#include "io/http/http_message.hh"

namespace bellwether::io {

// How the client speaks, which the request's handler need not know.
struct HttpFraming {
  bool is_http_1_0 = false;
  bool is_kept_alive = false;  // the client can do more requests over this connection
};

// Why bytes became no request.  They were the last of this connection: where the next request
// would begin is not known.
struct HttpRefusal {
  unsigned status = 400;
  const char* reason = "";  // a phrase for the client
  std::optional<Limit> limit{};
};

class HttpReader {
 public:
  explicit HttpReader(const HttpLimits& limits);
  ~HttpReader();
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;

  enum class Result { kMoreNeeded, kRequest, kRefused };

  // Adds what was received.
  void append(std::string_view bytes);
  // Reads on, and forgets the request that an earlier call has found.  A refusal is final.
  Result next();

  // After kRequest, until the next call of next().
  HttpRequest& request() { return request_; }
  const HttpFraming& framing() const { return framing_; }
  // After kRefused.
  const HttpRefusal& refusal() const { return *refusal_; }

  // How many bytes wait to be read.
  size_t waiting_bytes() const { return bytes_.size() - position_; }
  // After kMoreNeeded: whether a request has begun that is not complete.
  bool is_within_request() const;
  // After kMoreNeeded: whether the client waits for "100 Continue" before it sends the body.  True
  // once for each such request.
  bool take_expectation();

 private:
  class Parser;

  void begin();
  bool skip_empty_lines();
  Result parse();
  const char* flaw_of_head();
  const char* flaw_of_framing() const;
  Result refuse(const HttpRefusal& refusal);

  HttpLimits limits_;
  SecretText bytes_;
  size_t position_ = 0;  // in `bytes_`: those before it have been read
  size_t head_bytes_ = 0;
  size_t authorizations_ = 0;  // headers of this name
  bool is_complete_ = false;
  bool is_expecting_ = false;
  std::unique_ptr<Parser> parser_;
  std::string target_;
  HttpRequest request_;
  HttpFraming framing_;
  std::optional<HttpRefusal> refusal_;
};

}  // namespace bellwether::io
