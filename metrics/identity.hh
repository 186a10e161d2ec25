// What does not change while the process lives, and labels some of its metrics.
#pragma once

#include <string>
#include <vector>

namespace bellwether::metrics {

struct Identity {
  std::string group;
  std::string member;                 // this node's name in it
  std::string version;                // of the sidecar
  std::string plugin;                 // its name
  std::string abi;                    // "<major>.<minor>" of the plugin
  std::vector<std::string> variants;  // that the plugin has
  bool has_prices = false;            // it says what an election costs by each of them
};

}  // namespace bellwether::metrics
