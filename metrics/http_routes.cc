// The routes with their codes: the whole of it is the list below.
#include "metrics/http_routes.hh"

#include <array>
#include <cstddef>

#include "metrics/labels.hh"

namespace bellwether::metrics {
namespace {

// Every route knows 403 (a Host or an Origin that is not trusted) and 405 (the wrong method).
constexpr unsigned kState[] = {200, 403, 405};                    // always has an answer
constexpr unsigned kHealth[] = {200, 403, 405, 503};              // yes or no
constexpr unsigned kQuery[] = {200, 400, 403, 405, 503};          // parameters; may wait
constexpr unsigned kOperator[] = {200, 400, 403, 405, 409, 413};  // a body; needs a role
constexpr unsigned kTransfer[] = {200, 400, 403, 404, 405, 409, 412, 413};
constexpr unsigned kForget[] = {200, 400, 403, 404, 405, 409, 413};
constexpr unsigned kReload[] = {200, 400, 403, 405, 413, 422, 503};
constexpr unsigned kNoRoute[] = {400, 403, 404, 408, 413, 431, 503};

struct Route {
  HttpRoute route;
  const char* path;
  std::span<const unsigned> codes;
};

constexpr std::array kRoutes = {
    Route{HttpRoute::kIndex, "/", kState},
    Route{HttpRoute::kLeader, "/leader", kHealth},
    Route{HttpRoute::kFollower, "/follower", kHealth},
    Route{HttpRoute::kLivez, "/livez", kHealth},
    Route{HttpRoute::kReadyz, "/readyz", kHealth},
    Route{HttpRoute::kMetrics, "/metrics", kState},
    Route{HttpRoute::kUi, "/ui", kState},
    Route{HttpRoute::kApiLeader, "/v1/leader", kQuery},
    Route{HttpRoute::kApiEvents, "/v1/events", kQuery},
    Route{HttpRoute::kApiMembers, "/v1/members", kState},
    Route{HttpRoute::kApiStatus, "/v1/status", kState},
    Route{HttpRoute::kApiHistory, "/v1/history", kState},
    Route{HttpRoute::kApiExplain, "/v1/explain", kState},
    Route{HttpRoute::kApiStepDown, "/v1/step-down", kOperator},
    Route{HttpRoute::kApiTransfer, "/v1/transfer", kTransfer},
    Route{HttpRoute::kApiElect, "/v1/elect", kOperator},
    Route{HttpRoute::kApiReload, "/v1/reload", kReload},
    Route{HttpRoute::kApiForget, "/v1/members/NAME/forget", kForget},
    Route{HttpRoute::kNone, "none", kNoRoute},
};

constexpr bool is_in_order() {
  for (size_t i = 0; i < kRoutes.size(); ++i) {
    if (static_cast<size_t>(kRoutes[i].route) != i) return false;
  }
  return kRoutes.size() == kValues<HttpRoute>;
}
static_assert(is_in_order(), "one row for each route, in the order of the enumerators");

}  // namespace

const char* name(HttpRoute route) { return kRoutes[static_cast<size_t>(route)].path; }

std::span<const unsigned> codes_of(HttpRoute route) {
  return kRoutes[static_cast<size_t>(route)].codes;
}

}  // namespace bellwether::metrics
