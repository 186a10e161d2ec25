// What a reload changes.
#pragma once

#include <string>
#include <vector>

#include "config/config.hh"

namespace bellwether {

struct ConfigChange {
  std::string key;  // table.name; "voters" and "hook" stand for the whole of them
  std::string before;
  std::string after;             // both as TOML has them
  bool pending_restart = false;  // `after` is wanted, `before` stays in force until then
};

// The keys whose values differ, in the order of the table of keys.
std::vector<ConfigChange> diff(const Config& before, const Config& after);

// What is in force once a running sidecar has taken over of `wanted` what it can; all other keys
// stay as they are until its restart.
Config take_over(Config in_force, const Config& wanted);

}  // namespace bellwether
