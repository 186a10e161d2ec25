// What HTTP requests are counted under: the routes, never the paths that clients send, and for each
// the codes that it answers with.
#pragma once

#include <cstdint>
#include <span>

namespace bellwether::metrics {

// A path and its other names are one route.
enum class HttpRoute : uint8_t {
  kIndex,
  kLeader,
  kFollower,
  kLivez,
  kReadyz,
  kMetrics,
  kUi,
  kApiLeader,
  kApiEvents,
  kApiMembers,
  kApiStatus,
  kApiHistory,
  kApiExplain,
  kApiStepDown,
  kApiTransfer,
  kApiElect,
  kApiReload,
  kApiForget,
  kNone,  // no such path, or a request that could not be read
  kLast = kNone,
};

// The route's path; "none" for kNone.
const char* name(HttpRoute route);

// The codes that are counted one by one; all others are counted as "other".
std::span<const unsigned> codes_of(HttpRoute route);

}  // namespace bellwether::metrics
