// Who may ask what, and where it is answered.
#include "api/routes.hh"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/bodies.hh"
#include "api/responses.hh"
#include "api/trust.hh"
#include "base/duration_text.hh"

namespace bellwether::api {

using metrics::HttpRoute;

std::optional<Duration> parse_wait(std::string_view text) {
  const bool is_plain =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  return parse_duration(is_plain ? std::string(text) + "s" : std::string(text));
}

Routes::Routes(Backend& backend, LeadershipFeed& feed, const ElectionHistory& history,
               RoutesObserver observer)
    : backend_(backend), feed_(feed), history_(history), observer_(std::move(observer)) {
  feed_.subscribe(*this);
}

Routes::~Routes() { feed_.unsubscribe(*this); }

void Routes::handle(const HttpRequest& request, std::unique_ptr<Answer> answer, Entrance entrance) {
  const Route* route = find_route(request.path);
  if (route != nullptr && entrance == Entrance::kMetrics && !route->is_for_metrics_listener) {
    route = nullptr;
  }
  Exchange exchange(route != nullptr ? route->route : HttpRoute::kNone, std::move(answer),
                    observer_);
  if (entrance == Entrance::kApi) {
    const std::string reason = distrust(request, backend_.config());
    if (!reason.empty()) return exchange.send(error_response(403, reason));
  }
  if (route == nullptr) return exchange.send(error_response(404, "there is no such path"));
  if (!route->allows(request.method)) {
    const std::string allowed(route->methods);
    HttpResponse response = error_response(405, "this path takes " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return exchange.send(std::move(response));
  }
  dispatch(*route, request, std::move(exchange));
}

void Routes::dispatch(const Route& route, const HttpRequest& request, Exchange exchange) {
  const Leadership& now = feed_.current();
  switch (route.route) {
    case HttpRoute::kIndex:
      return exchange.send(index());
    case HttpRoute::kLeader:
      return exchange.send(role_health(feed_.is_leading(backend_.now())));
    case HttpRoute::kFollower:
      return exchange.send(role_health(now.leader && !now.is_self));
    case HttpRoute::kLivez:
      return exchange.send(livez());
    case HttpRoute::kReadyz:
      return exchange.send(readyz());
    case HttpRoute::kMetrics:
      return exchange.send(metrics_text());
    case HttpRoute::kUi:
      return exchange.send(ui());
    case HttpRoute::kApiLeader:
      return leader_or_wait(request, std::move(exchange));
    case HttpRoute::kApiEvents:
      return events(request, std::move(exchange));
    case HttpRoute::kApiMembers:
      return exchange.send(json_response(200, members_body(backend_, feed_)));
    case HttpRoute::kApiStatus:
      return exchange.send(json_response(200, status_body(backend_, feed_)));
    case HttpRoute::kApiHistory:
      return exchange.send(json_response(200, history_body(backend_, history_)));
    case HttpRoute::kApiExplain:
      return exchange.send(json_response(200, explain_body(backend_, feed_)));
    case HttpRoute::kApiStepDown:
      return step_down(request, std::move(exchange));
    case HttpRoute::kApiTransfer:
      return transfer(request, std::move(exchange));
    case HttpRoute::kApiElect:
      return elect(request, std::move(exchange));
    case HttpRoute::kApiReload:
      return reload(request, std::move(exchange));
    case HttpRoute::kApiForget:
      return forget(route, request, std::move(exchange));
    case HttpRoute::kNone:
      return;
  }
}

void Routes::on_gone() {
  long_polls_.drop_gone();
  streams_.drop_gone();
}

Instant Routes::deadline() const { return std::min(long_polls_.deadline(), streams_.deadline()); }

void Routes::on_time() {
  const Instant now = backend_.now();
  for (Exchange& exchange : long_polls_.take_due(now)) exchange.send(leader());
  streams_.on_time(now);
}

void Routes::on_change(const Leadership& leadership) {
  streams_.send(leader_event(leadership));
  for (Exchange& exchange : long_polls_.take_all()) exchange.send(leader());
}

}  // namespace bellwether::api
