// Everything by which people and programs on this host look at the sidecar and command it: the API,
// the address for metrics, and the webhooks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/backend.hh"
#include "api/history.hh"
#include "api/leadership.hh"
#include "api/routes.hh"
#include "config/config.hh"
#include "daemon/event_log.hh"
#include "daemon/hooks.hh"
#include "daemon/line_limit.hh"
#include "daemon/log.hh"
#include "daemon/server_tls.hh"
#include "daemon/tls_files.hh"
#include "io/http/http_server.hh"
#include "io/names/resolver.hh"
#include "metrics/metrics.hh"

namespace bellwether::daemon {

class FrontDoor {
 public:
  // Listens; throws AddressError.  All must outlive it.
  FrontDoor(io::Loop& loop, io::Resolver& resolver, api::Backend& backend,
            metrics::Metrics& metrics, Log& log, const Config& config);

  void on_publish(const Publish& publish);
  void on_election(const metrics::ElectionSummary& election, const std::string& variant);
  void on_tokens() { routes_.on_tokens(); }
  // What of it takes effect while the process runs.
  void configure(const Config& config);
  // Makes clients of `[api] socket` reach it, within a moment, whatever was done to its file.
  void look_at_socket();
  // Answers those that wait for something that would come later.
  void dismiss_waiting() { routes_.dismiss_waiting(); }
  // Takes no more requests.
  void close();

  // As GET /v1/status.
  std::string status_text() const;
  // Of what serves HTTP.
  api::TlsState tls(metrics::TlsUse use) const;

 private:
  // One address that serves HTTP, and its certificate where it has one.
  struct Door {
    metrics::TlsUse use;
    io::HttpServer server;
    std::optional<TlsFiles> tls{};
  };

  void on_command(metrics::Command command, const io::HttpClientFacts& client,
                  const api::Permission& permission);
  void on_tls_refused(metrics::Listener listener, const io::TlsFlaw& flaw,
                      const std::string& client);
  void open(Door& door, const HostPort& place, const TlsFiles::Read& read);
  void on_certificate(Door& door);

  io::Loop& loop_;
  api::Backend& backend_;
  api::LeadershipFeed feed_;
  api::ElectionHistory history_;
  Hooks hooks_;
  metrics::Metrics& metrics_;
  Log& log_;
  api::RoutesObserver observer_;
  api::Routes routes_;
  api::HttpBinding api_binding_;
  api::HttpBinding metrics_binding_;
  LineLimit refusals_{1, std::chrono::minutes(1)};
  Door api_;
  Door metrics_door_;
  FileWatch socket_watch_;
  std::shared_ptr<void> socket_look_{};  // shared with nobody (job.hh); one at a time
  Instant socket_look_began_{};
};

}  // namespace bellwether::daemon
