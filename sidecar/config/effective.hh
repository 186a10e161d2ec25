// The configuration that is in force, as TOML that gives the same configuration when it is read
// again, whatever the environment then is.
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

}  // namespace bellwether
