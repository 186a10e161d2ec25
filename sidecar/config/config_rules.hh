// What must hold, or had better hold, between keys: impossible combinations are errors
// (config_rules.cc), risky ones are warnings (config_warnings.cc).  One rule, one reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/parse.hh"

namespace bellwether {

// What a rule has against a configuration.
struct Objection {
  std::string what;
  std::string remedy;
  std::string key{};  // whom to blame; empty: the first of the rule's keys that is given
};

struct ConfigRule {
  // What the rule looks at, whom to blame first.
  std::vector<std::string> keys;
  std::function<std::vector<Objection>(const ParsedConfig& parsed)> judge;
};

const std::vector<ConfigRule>& error_rules();
const std::vector<ConfigRule>& warning_rules();

}  // namespace bellwether
