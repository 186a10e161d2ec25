// Finds the API of one sidecar, asks it, and waits for the answer: one connection a request, and a
// bound on the time of each.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>

#include "config/config.hh"
#include "daemon/tls_reading.hh"
#include "io/http/http_client.hh"
#include "io/loop/loop.hh"

namespace bellwether::cli {

// A unix socket when `socket` is not empty, otherwise a host and a port.
struct ApiAddress {
  HostPort host;
  std::string socket;
  std::string token_file;  // for commands; empty: none
  bool is_https = false;
  std::string server_cert;  // a file with the one certificate that is believed; empty: `files` say
  daemon::CertificateFiles files{.keys = "--"};

  // For people, and for the Host header.
  std::string text() const { return socket.empty() ? host.text() : socket; }
};

// Where a sidecar with this configuration answers; its text() is "" when it does nowhere.  Whoever
// can read the configuration knows the very certificate that is shown there, so no name and no
// authority is asked for.
ApiAddress address_of(const ApiSettings& api);
// The same for /metrics, /livez and /readyz.
ApiAddress address_of(const MetricsSettings& metrics);

struct ApiOptions {
  std::string api;         // what the user says; empty: what the configuration says
  std::string config;      // empty: the usual file, if there is one
  std::string token_file;  // empty: BELLWETHER_TOKEN_FILE, or what the configuration says
  std::string ca;          // empty: the system's, or the certificate of the configuration
  std::string cert;        // with `key`; empty: none
  std::string key;
};

// Throws UsageError when --api is not an address or the options do not fit together, ConfigErrors
// when the configuration is wrong, and std::system_error when it cannot be read.
ApiAddress find_api(const ApiOptions& options);

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

class ApiClient {
 public:
  // `patience` is with each request; with a stream of events, until it begins.  Throws ApiError
  // when the files for TLS are of no use.
  explicit ApiClient(ApiAddress address,
                     std::chrono::milliseconds patience = std::chrono::seconds(5));

  // From now on Ctrl-C and TERM end what waits, now or later, with Interrupted.
  void take_interrupts();

  // Both throw ApiError.
  io::HttpAnswer get(const std::string& target);
  // The answer may take `wait` longer; until then `meanwhile` is called every second.
  io::HttpAnswer post(
      const std::string& target, const std::string& body, std::chrono::milliseconds wait = {},
      const std::function<void()>& meanwhile = [] {});

  void pause(std::chrono::milliseconds duration);

  const ApiAddress& address() const { return address_; }

 private:
  friend class ApiEvents;

  io::HttpAnswer exchange(
      io::HttpClientRequest request, const std::function<void()>& meanwhile = [] {});
  io::HttpClientRequest request_for(const std::string& target) const;
  // Turns the loop until it is stopped, or for so long; throws Interrupted.
  void turn(Duration limit);
  void interrupt();
  [[noreturn]] void fail(const io::HttpClientResult& result) const;
  [[noreturn]] void fail(const std::string& why) const;

  ApiAddress address_;
  io::TlsContextPtr tls_;  // shared with its connections
  std::chrono::milliseconds patience_;
  bool is_interrupted_ = false;
  io::Loop loop_;
  io::Resolver resolver_;
  io::LoopTimer limit_;
  std::list<io::SignalWatch> ends_;  // one each
};

struct ApiEvent {
  std::string id;
  std::string data;
};

// GET /v1/events.
class ApiEvents {
 public:
  // `last_id` is that of the last event which was seen, or empty.  Throws ApiError.  `client` must
  // outlive it.
  ApiEvents(ApiClient& client, const std::string& last_id);

  // The answer, when it is not a stream of events; nullptr when it is.
  const io::HttpAnswer* refusal() const { return refusal_ ? &*refusal_ : nullptr; }

  // The next one, or nothing when none has come in this time.  Throws ApiError when the stream
  // ends.
  std::optional<ApiEvent> next(std::chrono::milliseconds wait);

 private:
  std::optional<ApiEvent> take_event();

  ApiClient& client_;
  std::string text_;  // what has come and is no whole event yet
  bool has_begun_ = false;
  std::optional<io::HttpClientResult> end_;
  std::optional<io::HttpAnswer> refusal_;
  io::HttpClient stream_;
};

}  // namespace bellwether::cli
