// The configuration that is in force: as TOML that gives the same configuration when it is read
// again, whatever the environment then is; and what a reload changes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/parse.hh"

namespace bellwether {

// All of it; values that the text did not give are marked with how the default came about.
std::string effective_toml(const ParsedConfig& parsed);

// Every value as text, by its key; all voters, and all hooks, are one value, in braces.
std::vector<std::pair<std::string, std::string>> value_texts(const Config& config);

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
