// `bellwether check`: is a configuration right, what is in force with it, and how long can the
// group be without a leader?
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "cli/exit_code.hh"
#include "config/failover.hh"
#include "config/parse.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

enum class CheckFormat : uint8_t { kText, kJson };

struct CheckOptions {
  std::string file = "/etc/bellwether/bellwether.toml";
  CheckFormat format = CheckFormat::kText;
  bool lists_keys = false;
};

// Adds the subcommand to `program`.  Parsing fills `options`, which must outlive `program`.
CLI::App* add_check(CLI::App& program, CheckOptions& options);

// Does what `options` say; throws std::system_error when the file cannot be read.
ExitCode check_config(const CheckOptions& options);

// Both forms of the report; errors and warnings are part of the JSON only.
void print_check_text(std::ostream& out, const ParsedConfig& parsed);
void print_check_json(std::ostream& out, const ParsedConfig& parsed);
void print_check_json(std::ostream& out, const std::string& file, const ConfigErrors& errors);

// 50ms + 2 RTT
std::string time_text(const Failover& failover);

}  // namespace bellwether::cli
