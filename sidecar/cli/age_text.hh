// How long something takes, or is ago, as people say it.
#pragma once

#include <optional>
#include <string>

#include "base/clock.hh"

namespace bellwether::cli {

// "40ms", "3.8s", "42s", "5m 12s", "3h 7m", "12d 4h"; what is below zero is "0ms".
std::string age_text(Duration age);

// How long ago a moment is that the API has named ("2026-01-31T09:00:01.250Z"), by this host's
// clock; nothing when it is none, or still to come.
std::optional<Duration> age_of(const std::string& moment);

}  // namespace bellwether::cli
