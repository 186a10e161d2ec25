// `bellwether simulate`: what it is asked to do, as values; it loads the plugin, settles which
// variants are meant, and hands over to the table, the scenario files or the random faults.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hh"
#include "simulator/fault_schedule.hh"
#include "simulator/message_table.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

struct NumberRange {
  uint64_t first = 0;
  uint64_t last = 0;  // not below first

  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

// "N" with low <= N <= high; throws UsageError.
uint64_t parse_number(std::string_view text, uint64_t low, uint64_t high);

// "A" or "A..B" with low <= A <= B <= high; throws UsageError.
NumberRange parse_range(std::string_view text, uint64_t low, uint64_t high);

// Ranges separated by commas; throws UsageError.
std::vector<NumberRange> parse_ranges(std::string_view text, uint64_t low, uint64_t high);

// What one call does; bits, so that an option can belong to several.
enum class Action : unsigned {
  kTable = 1u << 0,       // count messages
  kScenarios = 1u << 1,   // run scenario files
  kFaultSeeds = 1u << 2,  // run random fault schedules
  kVerbs = 1u << 3,       // print the scenario language
};

enum class Format : uint8_t { kTable, kCsv, kJson };

// The word for all variants that the plugin has.
inline constexpr const char* kAllVariants = "all";

struct SimulateOptions {
  Action action = Action::kTable;
  std::string variant = kAllVariants;
  std::string plugin = "bully";
  std::string plugin_dir;  // empty: the one installed with this program
  uint64_t seed = 1;

  // For the table.
  std::vector<uint32_t> processes{4, 6, 10, 14, 18, 22, 24, 28};
  simulator::Initiator initiator = simulator::Initiator::kLowest;
  Format format = Format::kTable;
  std::string plot;  // the file to draw to; empty: none

  // For scenario files.
  std::vector<std::string> files;
  bool rewrite = false;
  bool trace = false;

  // For random faults.
  NumberRange fault_seeds;
  simulator::Guarding guarding = simulator::Guarding::kNone;
  unsigned jobs = 1;
  uint64_t at_least_elections = 0;  // of each variant; fewer are a failure
};

// Adds the subcommand to `program`.  Parsing fills `options`, which must outlive `program`.
void add_simulate(CLI::App& program, SimulateOptions& options);

// What is to be simulated, once the plugin is known.
struct Simulation {
  const SimulateOptions& options;
  const election_plugin& plugin;
  std::vector<std::string> variants;  // at least one
};

// Does what `options` say; throws UsageError, PluginError and std::runtime_error.
ExitCode simulate(const SimulateOptions& options);

// The three kinds of run; each prints its report to stdout and its progress to stderr.
ExitCode print_message_table(const Simulation& simulation);
ExitCode run_scenario_files(const Simulation& simulation);
ExitCode run_random_faults(const Simulation& simulation);

}  // namespace bellwether::cli
