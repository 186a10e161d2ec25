// One scrape, read back from its text as Prometheus would.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "metrics/metrics.hh"

namespace bellwether::tests {

// Of the process that the tests play.
metrics::Identity sample_identity();

// Times of the tests: so long after the zero of the core's clock.
Instant at(Duration since_zero);
// What the wall shows at the zero of the core's clock: 2001-09-09 01:46:40 UTC.
inline constexpr int64_t kWallClockAtZero = 1'000'000'000;

// The text at `now`.
std::string text_of(metrics::Metrics& metrics, Instant now = {});

// Every series by its name and labels, as they are printed: `name{label="value"}`; without those
// that all have, `group` and `member`.
using Scrape = std::map<std::string, double>;
Scrape scrape(metrics::Metrics& metrics, Instant now = {});

// What differs from `before`, the process's own numbers left out.
Scrape changes(const Scrape& before, const Scrape& after);

}  // namespace bellwether::tests
