// When a server wants to be asked again.  Pure.
#pragma once

#include <optional>

#include "base/clock.hh"
#include "base/wall_time.hh"
#include "io/http/http_response_reader.hh"

namespace bellwether::io {

// What a Retry-After header asks for, in seconds or as a date (which `now` is subtracted from);
// nothing when there is none, or none that can be understood.
std::optional<Duration> retry_after(const HttpAnswer& answer, WallTime now);

}  // namespace bellwether::io
