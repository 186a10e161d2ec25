// `bellwether simulate`: loads the plugin, settles which variants are meant, and hands over to the
// table, the scenario files or the random faults.
#pragma once

#include <bellwether/election_plugin.h>

#include <string>
#include <vector>

#include "cli/exit_code.hh"
#include "cli/simulate_options.hh"

namespace bellwether::cli {

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
