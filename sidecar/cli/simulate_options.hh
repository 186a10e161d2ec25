// What `bellwether simulate` is asked to do, as values; and how the command line says it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/number_range.hh"
#include "simulator/fault_schedule.hh"
#include "simulator/message_table.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

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

}  // namespace bellwether::cli
