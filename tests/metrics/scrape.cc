// Reading the text format.
#include "scrape.hh"

#include <sstream>

#include "api/routes.hh"

namespace bellwether::tests {

metrics::Identity sample_identity() {
  return {.group = "orders",
          .member = "orders-0",
          .version = "1.2.3",
          .plugin = "bully",
          .abi = "1.0",
          .variants = {"modified"},
          .has_prices = true,
          .has_store = true,
          .routes = api::counted_routes()};
}

Instant at(Duration since_zero) { return Instant(since_zero); }

std::string text_of(metrics::Metrics& metrics, Instant now) {
  const std::chrono::system_clock::time_point zero(std::chrono::seconds{kWallClockAtZero});
  return metrics.text(now, zero + now.time_since_epoch());
}

// Two labels that all series have, and no test but one asks for.
std::string without_signature(std::string series) {
  for (const char* label :
       {",group=\"orders\",member=\"orders-0\"", "{group=\"orders\",member=\"orders-0\"}",
        "group=\"orders\",member=\"orders-0\","}) {
    const size_t place = series.find(label);
    if (place != std::string::npos) return series.erase(place, std::string_view(label).size());
  }
  return series;
}

Scrape scrape(metrics::Metrics& metrics, Instant now) {
  std::istringstream text(text_of(metrics, now));
  Scrape series;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) continue;
    const size_t blank = line.rfind(' ');
    series[without_signature(line.substr(0, blank))] = std::stod(line.substr(blank + 1));
  }
  return series;
}

Scrape changes(const Scrape& before, const Scrape& after) {
  Scrape changed;
  for (const auto& [name, value] : after) {
    if (name.starts_with("process_")) continue;
    const auto old = before.find(name);
    if (old == before.end()) {
      changed[name] = value;
    } else if (old->second != value) {
      changed[name] = value - old->second;
    }
  }
  return changed;
}

}  // namespace bellwether::tests
