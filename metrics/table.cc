// What the table needs besides its declarations: bucket bounds, and the series of the HTTP routes.
#include "metrics/table.hh"

namespace bellwether::metrics {

// From a hand-over on one machine to elections that were held again and again.
std::vector<double> election_seconds() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
}

std::vector<double> event_seconds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5};
}

// One node of an election has at most about 4 messages for each member of its group.
std::vector<double> message_counts() {
  return {0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};
}

HttpCounters::HttpCounters(prometheus::Registry& registry, const Description& about) {
  auto& family = add_family<prometheus::Counter>(registry, about);
  for (size_t i = 0; i < series_.size(); ++i) {
    const auto route = static_cast<HttpRoute>(i);
    const auto add = [&](const std::string& code) {
      series_[i].push_back(&family.Add({{"route", name(route)}, {"code", code}}));
    };
    for (const unsigned code : codes_of(route)) add(std::to_string(code));
    add("other");
  }
}

prometheus::Counter& HttpCounters::of(HttpRoute route, unsigned code) const {
  const auto codes = codes_of(route);
  size_t index = 0;
  while (index < codes.size() && codes[index] != code) ++index;
  return *series_[static_cast<size_t>(route)][index];
}

}  // namespace bellwether::metrics
