// The wiring of requests, counters and the two addresses.
#include "daemon/front_door.hh"

#include <chrono>

#include "api/bodies.hh"

namespace bellwether::daemon {

FrontDoor::FrontDoor(Loop& loop, Resolver& resolver, api::Backend& backend,
                     metrics::Metrics& metrics, Log& log, const Config& config)
    : backend_(backend),
      feed_(std::chrono::system_clock::now()),
      hooks_(loop, resolver, backend, feed_, metrics, log),
      observer_{.on_answered = [&](size_t route,
                                   unsigned code) { metrics.http_requests.count(route, code); },
                .on_limit = [&](Limit limit) { metrics.limit_hits.count(limit); }},
      routes_(loop, backend_, feed_, history_, observer_),
      api_binding_(routes_, api::Entrance::kApi, observer_),
      metrics_binding_(routes_, api::Entrance::kMetrics, observer_),
      api_server_(loop, api_binding_),
      metrics_server_(loop, metrics_binding_),
      socket_watch_(log, "the API's socket", config.api.socket) {
  if (!config.api.listen.is_none()) api_server_.listen(config.api.listen);
  if (!config.api.socket.empty()) api_server_.listen_on_socket(config.api.socket);
  if (!config.metrics.listen.is_none()) metrics_server_.listen(config.metrics.listen);
  hooks_.set(config.hooks);
}

void FrontDoor::on_publish(const Publish& publish) {
  feed_.on_publish(publish, backend_.node().members(), std::chrono::system_clock::now());
}

void FrontDoor::on_election(const metrics::ElectionSummary& election, const std::string& variant) {
  history_.on_election(election, variant, feed_.current(), std::chrono::system_clock::now());
}

void FrontDoor::look_at_socket() {
  socket_watch_.on_look(api_server_.look_at_socket(), "",
                        "nobody can connect to it; remove what is in its place: ");
}

void FrontDoor::close() {
  api_server_.stop_listening();
  metrics_server_.stop_listening();
}

std::string FrontDoor::status_text() const { return dump(api::status_body(backend_, feed_)); }

}  // namespace bellwether::daemon
