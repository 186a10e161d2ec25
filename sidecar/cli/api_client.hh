// A blocking HTTP client for the API of one sidecar: one connection a request, and a bound on the
// time of each.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/api_address.hh"

namespace bellwether::cli {

// Nobody answers, or not as a sidecar does; what() says who, why, and what to do.
class ApiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user wants to stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

struct ApiAnswer {
  unsigned status = 0;
  std::string body;
};

class ApiClient {
 public:
  // When there is something to read from `interrupt_fd` (-1: none), whatever waits ends with
  // Interrupted.  `patience` is with each request; with a stream of events, until it begins.
  explicit ApiClient(ApiAddress address, int interrupt_fd = -1,
                     std::chrono::milliseconds patience = std::chrono::seconds(5));

  // Both throw ApiError.
  ApiAnswer get(const std::string& target) const;
  ApiAnswer post(const std::string& target, const std::string& body) const;

  void pause(std::chrono::milliseconds duration) const;

  const ApiAddress& address() const { return address_; }
  int interrupt_fd() const { return interrupt_fd_; }
  std::chrono::milliseconds patience() const { return patience_; }

 private:
  ApiAnswer exchange(const std::string& request) const;

  ApiAddress address_;
  int interrupt_fd_;
  std::chrono::milliseconds patience_;
};

struct ApiEvent {
  std::string id;
  std::string data;
};

// GET /v1/events.
class ApiEvents {
 public:
  // `last_id` is that of the last event which was seen, or empty.  Throws ApiError.
  ApiEvents(const ApiClient& client, const std::string& last_id);
  ~ApiEvents();
  ApiEvents(const ApiEvents&) = delete;
  ApiEvents& operator=(const ApiEvents&) = delete;

  // The answer, when it is no stream of events; nullptr when it is.
  const ApiAnswer* refusal() const;

  // The next one, or nothing when none has come in this time.  Throws ApiError when the stream
  // ends.
  std::optional<ApiEvent> next(std::chrono::milliseconds wait);

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace bellwether::cli
