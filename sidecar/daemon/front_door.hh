// Everything by which people and programs on this host look at the sidecar and command it: the API,
// the address for metrics, and the webhooks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/history.hh"
#include "api/leadership.hh"
#include "api/routes.hh"
#include "config/config.hh"
#include "daemon/event_log.hh"
#include "daemon/hooks.hh"
#include "daemon/log.hh"
#include "io/http/http_server.hh"
#include "metrics/metrics.hh"

namespace bellwether::daemon {

class FrontDoor {
 public:
  // Listens; throws std::system_error whose text names the address.  All must outlive it.
  FrontDoor(Loop& loop, Resolver& resolver, api::Backend& backend, metrics::Metrics& metrics,
            Log& log, const Config& config);

  void on_publish(const Publish& publish);
  void on_election(const metrics::ElectionSummary& election, const std::string& variant);
  void set_hooks(const std::vector<HookSettings>& hooks) { hooks_.set(hooks); }
  // Makes clients of `[api] socket` reach it, whatever was done to its file.
  void look_at_socket();
  // Takes no more requests.
  void close();

  // As GET /v1/status.
  std::string status_text() const;

 private:
  api::Backend& backend_;
  api::LeadershipFeed feed_;
  api::ElectionHistory history_;
  Hooks hooks_;
  api::RoutesObserver observer_;
  api::Routes routes_;
  api::HttpBinding api_binding_;
  api::HttpBinding metrics_binding_;
  HttpServer api_server_;
  HttpServer metrics_server_;
  FileWatch socket_watch_;
};

}  // namespace bellwether::daemon
