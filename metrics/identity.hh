// What does not change while the process lives, and labels some of its metrics.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace bellwether::metrics {

// What HTTP requests are counted under: a route, never the paths that clients send; and the codes
// that are counted one by one, all others as "other".
struct HttpRoute {
  std::string name;
  std::span<const unsigned> codes;
};

struct Identity {
  std::string group;
  std::string member;                 // this node's name in it
  std::string version;                // of the sidecar
  std::string plugin;                 // its name
  std::string abi;                    // "<major>.<minor>" of the plugin
  std::vector<std::string> variants;  // that the plugin has
  bool has_prices = false;            // it says what an election costs by each of them
  std::vector<HttpRoute> routes;      // that HTTP requests are counted under
};

}  // namespace bellwether::metrics
