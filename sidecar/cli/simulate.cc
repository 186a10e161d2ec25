// What is asked for, settled to the end before anything runs: the options, their help and which of
// them belong together; the plugin and its variants.  The one trap: a misplaced option must be
// refused, or its user believes that it did something.
#include "cli/simulate.hh"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/choice_option.hh"
#include "cli/commands.hh"
#include "cli/plugin_dir.hh"
#include "core/plugin_facts.hh"
#include "plugin_loader.hh"
#include "simulator/scenario_verbs.hh"

namespace bellwether::cli {
namespace {

constexpr std::string_view kDots = "..";

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

// "N" with low <= N <= high; throws UsageError, as all of them.  Reads the whole text or refuses
// it: "12abc", "1e3", "-1" and " 4" are not numbers here.
uint64_t parse_number(std::string_view text, uint64_t low, uint64_t high) {
  const char* const end = text.data() + text.size();
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string limits = fmt::format("; give numbers from {} to {}", low, high);
  if (rest != end || error == std::errc::invalid_argument) {
    throw UsageError(quoted(text) + " is not a number" + limits);
  }
  if (error == std::errc::result_out_of_range || number < low || number > high) {
    throw UsageError(std::string(text) + " is out of range" + limits);
  }
  return number;
}

// "A" or "A..B" with low <= A <= B <= high.
NumberRange parse_range(std::string_view text, uint64_t low, uint64_t high) {
  const size_t dots = text.find(kDots);
  if (dots == std::string_view::npos) {
    const uint64_t number = parse_number(text, low, high);
    return {number, number};
  }
  const NumberRange range{parse_number(text.substr(0, dots), low, high),
                          parse_number(text.substr(dots + kDots.size()), low, high)};
  if (range.first > range.last) {
    throw UsageError(quoted(text) + " is empty; the smaller number comes first");
  }
  return range;
}

// Ranges separated by commas.
std::vector<NumberRange> parse_ranges(std::string_view text, uint64_t low, uint64_t high) {
  std::vector<NumberRange> ranges;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    ranges.push_back(parse_range(text.substr(begin, comma - begin), low, high));
    begin = comma + 1;
  }
  return ranges;
}

using simulator::Initiator;

constexpr uint64_t kMinProcesses = 2;
constexpr uint64_t kMaxProcesses = 1000;
constexpr uint64_t kMaxSeed = INT64_MAX;
constexpr uint64_t kMaxJobs = 1024;
constexpr uint64_t kMaxElections = INT64_MAX;

constexpr const char* kSimulateDescription = R"(Run elections in a virtual cluster

The real protocol code and the real plugin run in virtual time; the same seed gives the same run.
  without FILES or --fault-seeds   counts the messages of one election: the table of the papers
  with FILES                       runs these scenario files
  with --fault-seeds               runs random schedules of faults, one for each seed
)";

constexpr const char* kSimulateExamples = R"(Examples:
  bellwether simulate
      the published table for each variant, counted, beside the closed forms
  bellwether simulate --processes 3..40 --format csv --plot messages.svg
      more sizes, as CSV, and as a figure
  bellwether simulate --variant modified --initiator highest --processes 100,1000
      the best case of one variant
  bellwether simulate failover.txt
      runs a scenario file and prints its trace
  bellwether simulate --rewrite --variant classic figure_3.txt
      brings the traces in the file up to date
  bellwether simulate --fault-seeds 1..10000 --jobs 4
      ten thousand schedules of crashes, partitions and bad clocks for each variant
  bellwether simulate --guard majority --fault-seeds 1..1000000
      seven and a half million guarded elections of each variant: an hour on two cores
  bellwether simulate --plugin ./bellwether-mine.so failover.txt
      the same scenario with a plugin of your own

Exit status: 0 all is well; 1 a scenario or a schedule failed, a count differs from its closed form,
or there were too few elections; 2 wrong usage; 5 the plugin was refused.)";

// What one call does.
enum class Action : uint8_t { kTable, kScenarios, kFaultSeeds, kVerbs, kLast = kVerbs };
const char* name(Action action) {
  static constexpr Names<Action> kNames({"the table of messages", "scenario files",
                                         "random faults (--fault-seeds)",
                                         "the scenario language (--verbs)"});
  return kNames[action];
}

// Which options mean something for which action.
struct Use {
  const char* option;
  unsigned actions;  // bits
};

constexpr unsigned bit(Action action) { return 1u << static_cast<unsigned>(action); }

constexpr unsigned kAllRuns =
    bit(Action::kTable) | bit(Action::kScenarios) | bit(Action::kFaultSeeds);

constexpr Use kUses[] = {
    {"--variant", kAllRuns},
    {"--plugin", kAllRuns},
    {"--plugin-dir", kAllRuns},
    {"--seed", bit(Action::kTable) | bit(Action::kScenarios)},
    {"--processes", bit(Action::kTable)},
    {"--initiator", bit(Action::kTable)},
    {"--format", bit(Action::kTable)},
    {"--plot", bit(Action::kTable)},
    {"--rewrite", bit(Action::kScenarios)},
    {"--trace", bit(Action::kScenarios)},
    {"--guard", bit(Action::kFaultSeeds)},
    {"--jobs", bit(Action::kFaultSeeds)},
    {"--at-least-elections", bit(Action::kFaultSeeds)},
    {"--fault-seeds", bit(Action::kFaultSeeds)},
    {"FILES", bit(Action::kScenarios)},
};

std::string names_of(unsigned actions) {
  std::string names;
  for (const Action action : {Action::kTable, Action::kScenarios, Action::kFaultSeeds}) {
    if ((actions & bit(action)) == 0) continue;
    names += (names.empty() ? "" : " and ") + std::string(name(action));
  }
  return names;
}

// What to do about an option that is for `wanted` when `action` is what happens without it.
const char* remedy(unsigned wanted, Action action) {
  if (action != Action::kTable) return "leave it out";
  return (wanted & bit(Action::kScenarios)) != 0 ? "name the files" : "add --fault-seeds";
}

void refuse_options_of_other_actions(const CLI::App& simulate, Action action) {
  for (const Use& use : kUses) {
    if ((use.actions & bit(action)) != 0 || simulate.count(use.option) == 0) continue;
    throw UsageError(fmt::format("{} is for {}, not for {}; {}", use.option, names_of(use.actions),
                                 name(action), remedy(use.actions, action)));
  }
}

// An option whose text `read` understands; an error is told with the option's name.
template <typename Read>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Read read,
                        const std::string& help) {
  const auto parse = [read, name](const std::string& text) {
    try {
      read(text);
    } catch (const UsageError& error) {
      throw UsageError(name + ": " + error.what());
    }
  };
  return app.add_option_function<std::string>(name, parse, help);
}

void add_plugin_options(CLI::App& simulate, SimulateOptions& options) {
  simulate
      .add_option("--variant", options.variant,
                  "classic, modified, or another that the plugin has;\n"
                  "all: each that it has (default)")
      ->option_text("NAME");
  simulate
      .add_option("--plugin", options.plugin,
                  "name in the plugin folder, or path with a '/'\n(default bully)")
      ->option_text("NAME");
  simulate.add_option("--plugin-dir", options.plugin_dir, "the plugin folder")->option_text("DIR");
  add_parsed(
      simulate, "--seed",
      [&options](const std::string& text) { options.seed = parse_number(text, 0, kMaxSeed); },
      "decides everything that is random (default 1)")
      ->option_text("N");
}

void add_table_options(CLI::App& simulate, SimulateOptions& options) {
  simulate.option_defaults()->group("Table of messages");
  const auto read_processes = [&options](const std::string& text) {
    options.processes.clear();
    for (const NumberRange& range : parse_ranges(text, kMinProcesses, kMaxProcesses)) {
      for (uint64_t size = range.first; size <= range.last; ++size) {
        options.processes.push_back(static_cast<uint32_t>(size));
      }
    }
  };
  add_parsed(simulate, "--processes", read_processes,
             "sizes of the group, the one that dies included:\n"
             "4,6,10 or 4..28 (default 4,6,10,14,18,22,24,28)")
      ->option_text("LIST");
  add_choice(
      simulate, "--initiator", options.initiator,
      {{"lowest", Initiator::kLowest}, {"highest", Initiator::kHighest}, {"all", Initiator::kAll}},
      "who notices that the leader died: lowest (the worst\n"
      "case, default), highest (the best), all")
      ->option_text("WHO");
  add_choice(simulate, "--format", options.format,
             {{"table", Format::kTable}, {"csv", Format::kCsv}, {"json", Format::kJson}},
             "table (default), csv, json")
      ->option_text("FORMAT");
  simulate.add_option("--plot", options.plot, "also draw messages over processes, as an SVG")
      ->option_text("FILE.svg");
}

void add_scenario_options(CLI::App& simulate, SimulateOptions& options) {
  simulate.add_option("FILES", options.files, "scenario files to run")->option_text("...");
  simulate.option_defaults()->group("Scenario files");
  simulate.add_flag("--trace", options.trace, "print the trace of each (default for a single one)");
  simulate.add_flag("--rewrite", options.rewrite, "write the real traces into the files");
  simulate.add_flag("--verbs")->description("print the scenario language, and end");
}

void add_fault_options(CLI::App& simulate, SimulateOptions& options) {
  simulate.option_defaults()->group("Random faults");
  add_parsed(
      simulate, "--fault-seeds",
      [&options](const std::string& text) { options.fault_seeds = parse_range(text, 0, kMaxSeed); },
      "run the schedules of these seeds: A..B, or one N")
      ->option_text("SEEDS");
  add_choice(simulate, "--guard", options.guarding,
             {{"none", simulator::Guarding::kNone},
              {"majority", simulator::Guarding::kMajority},
              {"store", simulator::Guarding::kStore}},
             "none (default); majority: some nodes are voters; store: a record in a\n"
             "store decides; with these no two flags may ever be on together")
      ->option_text("GUARD");
  add_parsed(
      simulate, "--jobs",
      [&options](const std::string& text) {
        options.jobs = static_cast<unsigned>(parse_number(text, 1, kMaxJobs));
      },
      "schedules to run at the same time (default: one per core)")
      ->option_text("N");
  add_parsed(
      simulate, "--at-least-elections",
      [&options](const std::string& text) {
        options.at_least_elections = parse_number(text, 0, kMaxElections);
      },
      "fail if a variant held fewer in total (default 0)")
      ->option_text("N");
}

Action action_of(const CLI::App& simulate) {
  if (simulate.count("--verbs") != 0) return Action::kVerbs;
  if (simulate.count("--fault-seeds") != 0) return Action::kFaultSeeds;
  return simulate.count("FILES") != 0 ? Action::kScenarios : Action::kTable;
}

std::vector<std::string> chosen_variants(const election_plugin& plugin, const std::string& word) {
  if (word == SimulateOptions{}.variant) return variants_of(plugin);
  try {
    require_variant(plugin, word);
  } catch (const PluginError& error) {
    // The plugin is fine; the word is not.
    throw UsageError(std::string("--variant: ") + error.what());
  }
  return {word};
}

ExitCode simulate(const SimulateOptions& options, Action action) {
  if (action == Action::kVerbs) {
    simulator::print_verbs(std::cout);
    return ExitCode::kOk;
  }
  const std::string& folder = options.plugin_dir;
  const election_plugin& plugin = load_plugin(
      options.plugin, folder.empty() ? installed_plugin_dir() : std::filesystem::path(folder));
  const Simulation simulation{options, plugin, chosen_variants(plugin, options.variant)};
  if (action == Action::kScenarios) return run_scenario_files(simulation);
  if (action == Action::kFaultSeeds) return run_random_faults(simulation);
  return print_message_table(simulation);
}

}  // namespace

void add_simulate(CLI::App& program, Subcommand& chosen) {
  const auto options = std::make_shared<SimulateOptions>();
  options->jobs = std::max(1u, std::thread::hardware_concurrency());
  CLI::App& added = *program.add_subcommand("simulate", kSimulateDescription);
  added.footer(kSimulateExamples);
  add_plugin_options(added, *options);
  add_table_options(added, *options);
  add_scenario_options(added, *options);
  add_fault_options(added, *options);
  added.callback([&added, &chosen, options] {
    const Action action = action_of(added);
    refuse_options_of_other_actions(added, action);
    chosen = [options, action] { return simulate(*options, action); };
  });
}

}  // namespace bellwether::cli
