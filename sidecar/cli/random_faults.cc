// `bellwether simulate --fault-seeds`: runs the schedules of all seeds with each variant, and shows
// the first that fails as a scenario file, with the way to run it again.  Schedules in which little
// happens prove little, so the number of elections can be demanded.
#include <iomanip>
#include <iostream>
#include <sstream>

#include "cli/fault_runs.hh"
#include "cli/progress.hh"
#include "cli/simulate.hh"

namespace bellwether::cli {
namespace {

using Seconds = std::chrono::duration<double>;

std::string in_words(Duration duration) {
  using std::chrono::duration_cast;
  const auto days = duration_cast<std::chrono::days>(duration);
  const auto hours = duration_cast<std::chrono::hours>(duration - days);
  const auto minutes = duration_cast<std::chrono::minutes>(duration - days - hours);
  const auto seconds = duration_cast<std::chrono::seconds>(duration - days - hours - minutes);
  std::ostringstream text;
  if (days.count() > 0) text << days.count() << " d ";
  if (days.count() > 0 || hours.count() > 0) text << hours.count() << " h ";
  if (days.count() == 0) text << minutes.count() << " min ";
  if (days.count() == 0 && hours.count() == 0) text << seconds.count() << " s ";
  std::string result = text.str();
  result.pop_back();
  return result;
}

FaultReport run_variant(const Simulation& simulation, const std::string& variant) {
  const NumberRange& seeds = simulation.options.fault_seeds;
  const std::string all = std::to_string(seeds.last - seeds.first + 1);
  Progress progress;
  return run_fault_seeds({.plugin = &simulation.plugin,
                          .variant = variant,
                          .guarding = simulation.options.guarding,
                          .first_seed = seeds.first,
                          .last_seed = seeds.last,
                          .threads = simulation.options.jobs,
                          .broken_rules = {},
                          .progress = [&](uint64_t done, uint64_t failed) {
                            progress.tell(variant + ": " + std::to_string(done) + " of " + all +
                                          " schedules, " + std::to_string(failed) + " failed");
                          }});
}

// What did not happen in n independent tries happens in less than 3/n of them, with 95 % confidence
// (the rule of three).
void print_summary(const std::string& variant, const FaultReport& report, Seconds wall_time) {
  std::cout << variant << ": " << report.schedules << " schedules, " << report.elections
            << " elections, " << report.faults << " faults, " << in_words(report.virtual_time)
            << " of virtual time, " << report.failed << " failed, in " << std::fixed
            << std::setprecision(1) << wall_time.count() << " s";
  const uint64_t bound = report.elections / 3;
  if (report.failed == 0 && bound > 0) {
    std::cout << "; less than 1 failure in " << bound << " elections (95 % confidence)";
  }
  std::cout << "\n";
}

std::string in_shell(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void print_failure(const SimulateOptions& options, const std::string& variant,
                   const FaultReport& report) {
  const std::string seed = std::to_string(*report.failing_seed);
  const std::string file = "seed_" + seed + "_" + variant + ".txt";
  std::string plugin;
  const SimulateOptions usual;
  const char* const guard =
      options.guarding == simulator::Guarding::kMajority ? " --guard majority" : "";
  if (options.plugin != usual.plugin) plugin += " --plugin " + in_shell(options.plugin);
  if (!options.plugin_dir.empty()) plugin += " --plugin-dir " + in_shell(options.plugin_dir);
  // The marks are comments: it does no harm to save them, too.
  std::cout << "FAILED  " << variant << ", seed " << seed << "\n"
            << report.failure << "\n"
            << "# ---- 8< ---- the schedule as a scenario file\n"
            << report.failing_scenario << "\n"
            << "# ---- 8< ---- its end\n"
            << "To run it again: bellwether simulate" << plugin << " --variant "
            << in_shell(variant) << guard << " --fault-seeds " << seed << "\n"
            << "To see its trace, save it and run it: bellwether simulate" << plugin << " "
            << in_shell(file) << "\n";
}

}  // namespace

ExitCode run_random_faults(const Simulation& simulation) {
  using Clock = std::chrono::steady_clock;
  ExitCode code = ExitCode::kOk;
  for (const std::string& variant : simulation.variants) {
    const Clock::time_point start = Clock::now();
    const FaultReport report = run_variant(simulation, variant);
    print_summary(variant, report, Clock::now() - start);
    if (report.failed != 0) print_failure(simulation.options, variant, report);
    const uint64_t demanded = simulation.options.at_least_elections;
    const bool is_too_few = report.elections < demanded;
    if (is_too_few) {
      std::cout << "FAILED  " << variant << ": fewer elections than " << demanded << "\n";
    }
    if (report.failed != 0 || is_too_few) code = ExitCode::kFailure;
  }
  return code;
}

}  // namespace bellwether::cli
