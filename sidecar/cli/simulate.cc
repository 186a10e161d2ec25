// Settles what all three kinds of run need: the plugin and its variants.
#include "cli/simulate.hh"

#include <iostream>

#include "cli/plugin_dir.hh"
#include "core/plugin_facts.hh"
#include "plugin_loader.hh"
#include "simulator/scenario_verbs.hh"

namespace bellwether::cli {
namespace {

const election_plugin& load(const SimulateOptions& options) {
  return load_plugin(options.plugin, options.plugin_dir.empty()
                                         ? installed_plugin_dir()
                                         : std::filesystem::path(options.plugin_dir));
}

std::vector<std::string> chosen_variants(const election_plugin& plugin, const std::string& word) {
  if (word == kAllVariants) return variants_of(plugin);
  try {
    require_variant(plugin, word);
  } catch (const PluginError& error) {
    // The plugin is fine; the word is not.
    throw UsageError(std::string("--variant: ") + error.what());
  }
  return {word};
}

}  // namespace

ExitCode simulate(const SimulateOptions& options) {
  if (options.action == Action::kVerbs) {
    simulator::print_verbs(std::cout);
    return ExitCode::kOk;
  }
  const election_plugin& plugin = load(options);
  const Simulation simulation{options, plugin, chosen_variants(plugin, options.variant)};
  switch (options.action) {
    case Action::kScenarios:
      return run_scenario_files(simulation);
    case Action::kFaultSeeds:
      return run_random_faults(simulation);
    case Action::kTable:
    case Action::kVerbs:
      break;
  }
  return print_message_table(simulation);
}

}  // namespace bellwether::cli
