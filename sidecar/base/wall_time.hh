// The time of day, for people and logs only: it can be set and may jump, so nothing is decided by
// it.
#pragma once

#include <chrono>
#include <ctime>
#include <string>

namespace bellwether {

using WallTime = std::chrono::system_clock::time_point;

// Of seconds since 1970; the last moment that can be told (in the year 2262) stands for all later
// ones.
WallTime wall_time_of(std::time_t seconds);

// RFC 3339 in UTC with milliseconds: 2026-01-31T09:05:00.250Z
std::string rfc3339(WallTime time);
// The same with microseconds, as Kubernetes has it: 2026-01-31T09:05:00.250000Z
std::string rfc3339_micro(WallTime time);

}  // namespace bellwether
