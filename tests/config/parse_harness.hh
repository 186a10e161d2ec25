// What the tests of the configuration have in common: an environment of their own, and errors as
// the lines that a user sees.
#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "config/parse.hh"

namespace bellwether::test {

inline const std::string kFile = "b.toml";
inline const std::string kKnown = "[tls]\nsecret_file = \"/etc/bellwether/orders.secret\"\n";

inline Environment environment() {
  Environment environment;
  environment.host_name = "host-1";
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    static const std::map<std::string, std::string> kVariables{
        {"POD_NAME", "orders-0"},
        {"POD_IP", "10.0.0.7"},
        {"POD_IPV6", "fd00::5"},
        {"EMPTY", ""},
        {"NESTED", "${POD_IP}"},
        {"BELL", "a\ab"},
        {"LATIN1", "\xE9"},
        {"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
        {"KUBERNETES_SERVICE_PORT", "443"}};
    const auto found = kVariables.find(name);
    return found == kVariables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  environment.pod_namespace = [] { return "shop"; };
  environment.variants = [](const std::string& plugin) {
    return plugin == "bully" ? std::vector<std::string>{"classic", "modified"}
                             : std::vector<std::string>{};
  };
  return environment;
}

inline ParsedConfig parse(std::string_view text) {
  return parse_config(text, kFile, environment());
}

inline Config config_of(const std::string& text) { return parse(text).config; }

// The least that is valid.
inline const std::string kGroup = "group.name = \"g\"\n";

inline Config with_profile(const std::string& profile) {
  return config_of(kGroup + "election.profile = \"" + profile + "\"\n");
}

// In an environment in which nothing is set: what is in force depends on none.
inline Config read_back(const std::string& text) {
  const Environment empty{[](const std::string&) { return std::nullopt; }, ""};
  return parse_config(text, "effective", empty).config;
}

// A line of its own for each error; none when there is no error.
inline std::vector<std::string> errors_of(std::string_view text) {
  try {
    parse(text);
  } catch (const ConfigErrors& errors) {
    std::vector<std::string> lines;
    std::istringstream all(errors.what());
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
  }
  return {};
}

// Of a configuration whose members know each other, unless it says how itself.
inline std::vector<std::string> warnings_of(const std::string& text) {
  const bool has_tls = text.find("[tls]") != std::string::npos;
  std::vector<std::string> lines;
  for (const Finding& warning : parse(has_tls ? text : text + kKnown).warnings) {
    lines.push_back(describe(kFile, "warning", warning));
  }
  return lines;
}

// What is right with everything, and raises no warning.
inline const std::string kSound = R"([group]
name = "orders"
[voters]
orders-0 = "10.0.0.7:7946"
orders-1 = "10.0.0.8:7946"
orders-2 = "10.0.0.9:7946"
[node]
name = "orders-0"
)";

// The same by a store; its table comes behind it.
inline const std::string kSoundWithStore = R"([group]
name = "orders"
[membership]
dns = "orders:7946"
[node]
name = "orders-0"
advertise = "10.0.0.7:7946"
)";

// kSound has eight lines: what is appended begins in this one.
inline constexpr int kNextLine = 9;

inline void expect_error(const std::string& text, const std::string& expected) {
  BOOST_TEST(errors_of(text) == std::vector<std::string>{"b.toml:" + expected},
             boost::test_tools::per_element());
}

inline void expect_warning(const std::string& text, const std::string& expected) {
  BOOST_TEST(warnings_of(text) == std::vector<std::string>{"b.toml:" + expected},
             boost::test_tools::per_element());
}

}  // namespace bellwether::test
