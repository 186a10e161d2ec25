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

HttpCounters::HttpCounters(prometheus::Registry& registry, const std::vector<HttpRoute>& routes,
                           const Description& about) {
  auto& family = add_family<prometheus::Counter>(registry, about);
  for (const HttpRoute& route : routes) {
    Counted& counted = routes_.emplace_back(Counted{.codes = route.codes});
    const auto add = [&](const std::string& code) {
      counted.series.push_back(&family.Add({{"route", route.name}, {"code", code}}));
    };
    for (const unsigned code : route.codes) add(std::to_string(code));
    add("other");
  }
}

prometheus::Counter& HttpCounters::of(size_t route, unsigned code) const {
  const auto& [codes, series] = routes_[route];
  return *series[static_cast<size_t>(std::ranges::find(codes, code) - codes.begin())];
}

}  // namespace bellwether::metrics
