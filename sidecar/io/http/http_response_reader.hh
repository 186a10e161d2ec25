// One response out of bytes.  Pure, like HttpReader, but more patient: what a server says is taken
// as it is meant, within bounds.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/wall_time.hh"
#include "io/http/http_message.hh"

namespace bellwether::io {

// As a client sees it.
struct HttpAnswer {
  unsigned status = 0;
  HttpHeaders headers{};
  std::string body{};
  bool is_body_cut = false;  // it was longer than its limit; the rest was not read

  const std::string* header(std::string_view name) const { return find_header(headers, name); }
};

// What a Retry-After header asks for, in seconds or as a date (which `now` is subtracted from);
// nothing when there is none, or none that can be understood.
std::optional<Duration> retry_after(const HttpAnswer& answer, WallTime now);

class HttpResponseReader {
 public:
  static constexpr size_t kMaxHeadBytes = size_t{16} * 1024;
  static constexpr size_t kMaxBodyBytes = size_t{64} * 1024;

  // `is_head`: it answers a HEAD, so there is no body whatever its headers say.
  explicit HttpResponseReader(bool is_head, size_t max_body_bytes = kMaxBodyBytes);
  ~HttpResponseReader();
  HttpResponseReader(const HttpResponseReader&) = delete;
  HttpResponseReader& operator=(const HttpResponseReader&) = delete;

  enum class Result { kMoreNeeded, kComplete, kRefused };

  // Takes what was received.  Interim responses (1xx) are skipped.
  Result append(std::string_view bytes);
  // The server has closed its direction: complete or refused.  `is_cut`: somebody else may have.
  Result end(bool is_cut = false);

  // Whether status and headers of answer() are there, and the body, as far as it has come.
  bool has_head() const;
  // After kComplete: whether the server keeps the connection, and nothing but the answer has come.
  bool leaves_connection() const;
  // After kComplete.
  HttpAnswer& answer() { return answer_; }
  // After kRefused: why, as a phrase.
  const char* flaw() const { return flaw_; }

 private:
  class Parser;

  void begin();
  Result refuse(const char* flaw);

  bool is_head_;
  size_t max_body_bytes_;
  size_t head_bytes_ = 0;
  int interim_responses_ = 0;
  std::string bytes_;        // that were not read yet
  bool is_all_read_ = true;  // after kComplete: nothing has come behind the answer
  std::unique_ptr<Parser> parser_;
  HttpAnswer answer_;
  const char* flaw_ = "";
};

}  // namespace bellwether::io
