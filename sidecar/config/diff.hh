// What a reload changes.
#pragma once

#include <string>
#include <vector>

#include "config/config.hh"

namespace bellwether {

struct ConfigChange {
  std::string key;  // table.name; "voters" and "hook" stand for the whole of them
  std::string before;
  std::string after;            // both as TOML has them
  bool pending_restart = true;  // false: it can be applied while running
};

// The keys whose values differ, in the order of the table of keys.
std::vector<ConfigChange> diff(const Config& before, const Config& after);

}  // namespace bellwether
