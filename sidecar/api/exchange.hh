// One request under way: where its answer goes, and what it is counted under when it is answered.
// In production the answer is io's HttpReply (routes.cc); the routes know no more of it than
// this, so they run without a socket.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/authority.hh"
#include "base/json.hh"
#include "io/http/http_server.hh"
#include "metrics/labels.hh"

namespace bellwether::api {

class Answer {
 public:
  virtual ~Answer() = default;
  // False once the client has gone, or when the answer is complete.
  virtual bool is_open() const = 0;
  // The whole answer, once.
  virtual void send(io::HttpResponse response) = 0;
  // Or an answer without an end.  write() returns false when the client has gone.
  virtual void begin_stream(std::string_view content_type) = 0;
  virtual bool write(std::string_view piece) = 0;
  virtual void end_stream() = 0;
};

// Who counts; `route`: its place in counted_routes().  A client that goes before its answer is not
// counted.
struct RoutesObserver {
  std::function<void(size_t route, unsigned code)> on_answered;
  std::function<void(Limit limit)> on_limit;
  std::function<void(metrics::Listener listener, const io::TlsFlaw& flaw,
                     const std::string& client)>
      on_tls_refused;
  // Somebody wants to command, and may or may not.
  std::function<void(metrics::Command command, const io::HttpClientFacts& client,
                     const Permission& permission)>
      on_command;
};

class Exchange {
 public:
  // `observer` must outlive it.
  Exchange(size_t route, std::shared_ptr<Answer> answer, const RoutesObserver& observer)
      : route_(route), answer_(std::move(answer)), observer_(&observer) {}

  bool is_open() const { return answer_->is_open(); }

  void send(io::HttpResponse response) {
    if (!answer_->is_open()) return;
    observer_->on_answered(route_, response.status);
    answer_->send(std::move(response));
  }

  void begin_stream(std::string_view content_type) {
    if (!answer_->is_open()) return;
    constexpr unsigned kOk = 200;
    observer_->on_answered(route_, kOk);
    answer_->begin_stream(content_type);
  }
  bool write(std::string_view piece) { return answer_->write(piece); }
  void end_stream() { answer_->end_stream(); }

 private:
  size_t route_;
  std::shared_ptr<Answer> answer_;  // shared by copies, which std::function makes
  const RoutesObserver* observer_;
};

// That nobody may keep it is said by the server, for all answers.
inline io::HttpResponse json_response(unsigned status, const Json& body) {
  return {.status = status, .body = dump(body) + "\n"};
}

inline io::HttpResponse error_response(unsigned status, const std::string& error) {
  return json_response(status, {{"error", error}});
}

// For clients that find no place, or come too often; they may try again soon.
inline io::HttpResponse busy_response(const std::string& error, unsigned status = 503) {
  io::HttpResponse response = error_response(status, error);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace bellwether::api
