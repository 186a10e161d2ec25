// The table.  OPTIONS is how load balancers ask by default; so what they ask has it.
#include "api/route_table.hh"

#include <algorithm>
#include <optional>

namespace bellwether::api {
namespace {

using metrics::HttpRoute;

constexpr std::string_view kRead = "GET, HEAD";
constexpr std::string_view kHealth = "GET, HEAD, OPTIONS";
constexpr std::string_view kStream = "GET";
constexpr std::string_view kCommand = "POST";

constexpr std::array kRoutes = {
    Route{HttpRoute::kIndex, {"/"}, kRead},
    Route{HttpRoute::kLeader, {"/leader", "/primary"}, kHealth},
    Route{HttpRoute::kFollower, {"/follower", "/replica"}, kHealth},
    Route{HttpRoute::kLivez, {"/livez", "/healthz", "/liveness"}, kHealth, true},
    Route{HttpRoute::kReadyz, {"/readyz", "/readiness"}, kHealth, true},
    Route{HttpRoute::kMetrics, {"/metrics"}, kRead, true},
    Route{HttpRoute::kUi, {"/ui"}, kRead},
    Route{HttpRoute::kApiLeader, {"/v1/leader"}, kRead},
    Route{HttpRoute::kApiEvents, {"/v1/events", "/sse"}, kStream},
    Route{HttpRoute::kApiMembers, {"/v1/members"}, kRead},
    Route{HttpRoute::kApiStatus, {"/v1/status"}, kRead},
    Route{HttpRoute::kApiHistory, {"/v1/history"}, kRead},
    Route{HttpRoute::kApiExplain, {"/v1/explain"}, kRead},
    Route{HttpRoute::kApiStepDown, {"/v1/step-down"}, kCommand},
    Route{HttpRoute::kApiTransfer, {"/v1/transfer"}, kCommand},
    Route{HttpRoute::kApiElect, {"/v1/elect"}, kCommand},
    Route{HttpRoute::kApiReload, {"/v1/reload"}, kCommand},
    Route{HttpRoute::kApiForget, {"/v1/members/NAME/forget"}, kCommand},
};

constexpr std::string_view kName = "NAME";

// What stands for NAME; nothing when `path` is not one of `pattern`.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const size_t place = pattern.find(kName);
  if (place == std::string_view::npos) {
    return path == pattern ? std::optional<std::string_view>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, place);
  const std::string_view after = pattern.substr(place + kName.size());
  const bool is_long_enough = path.size() >= before.size() + after.size();
  if (!is_long_enough || !path.starts_with(before) || !path.ends_with(after)) return std::nullopt;
  path.remove_prefix(before.size());
  path.remove_suffix(after.size());
  return path;
}

}  // namespace

bool Route::allows(std::string_view method) const {
  constexpr std::string_view kSeparator = ", ";
  std::string_view rest = methods;
  while (true) {
    const size_t end = rest.find(kSeparator);
    if (rest.substr(0, end) == method) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + kSeparator.size());
  }
}

std::string_view Route::name_in(std::string_view path) const {
  return match(paths.front(), path).value_or("");
}

std::span<const Route> routes() { return kRoutes; }

const Route* find_route(std::string_view path) {
  if (path.empty()) return nullptr;  // unused names are empty
  const auto found = std::find_if(kRoutes.begin(), kRoutes.end(), [&](const Route& route) {
    return std::any_of(route.paths.begin(), route.paths.end(),
                       [&](std::string_view pattern) { return match(pattern, path).has_value(); });
  });
  return found == kRoutes.end() ? nullptr : &*found;
}

}  // namespace bellwether::api
