// From TOML text to a configuration that can be used, or to all that is wrong with it at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hh"
#include "config/environment.hh"
#include "config/findings.hh"

namespace bellwether {

struct ParsedConfig {
  std::string file;  // as it is named in findings
  Config config;
  // Which keys the text gives, and where; all others are at their defaults.  A key of a hook is
  // hook[1].url, counted from 1; a voter is voters.NAME.
  std::map<std::string, SourcePosition> given;
  std::vector<std::string> variants;  // that the plugin has; none: nobody knows
  std::vector<Finding> warnings;      // legal, but doubtful; in the order of the text
};

// Throws ConfigErrors with every error of the text (of a syntax error, with the first).
ParsedConfig parse_config(std::string_view text, const std::string& file,
                          const Environment& environment);

}  // namespace bellwether
