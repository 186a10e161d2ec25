// `bellwether simulate`: what it is asked to do, as values, and what does it.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.hh"
#include "simulator/fault_schedule.hh"
#include "simulator/message_table.hh"

namespace bellwether::cli {

struct NumberRange {
  uint64_t first = 0;
  uint64_t last = 0;  // not below first
};

enum class Format : uint8_t { kTable, kCsv, kJson };

struct SimulateOptions {
  std::string variant = "all";  // or the name of one
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

// What is to be simulated, once the plugin is known.
struct Simulation {
  const SimulateOptions& options;
  const election_plugin& plugin;
  std::vector<std::string> variants;  // at least one
};

// The three kinds of run; each prints its report to stdout and its progress to stderr.
ExitCode print_message_table(const Simulation& simulation);
ExitCode run_scenario_files(const Simulation& simulation);
ExitCode run_random_faults(const Simulation& simulation);

}  // namespace bellwether::cli
