// The configuration that is in force, as TOML that gives the same configuration when it is read
// again, whatever the environment then is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/parse.hh"
#include "config/value_types.hh"

namespace bellwether {

// All of it; values that the text did not give are marked with how the default came about.
std::string effective_toml(const ParsedConfig& parsed);

// On one line: { orders-0 = "…" } and [{ url = "…", timeout = "…" }].
std::string inline_table(const std::map<std::string, HostPort>& voters);
std::string inline_list(const std::vector<HookSettings>& hooks);

}  // namespace bellwether
