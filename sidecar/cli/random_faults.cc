// `bellwether simulate --fault-seeds`: runs the schedules of all seeds with each variant, and shows
// the first that fails as a scenario file, with the way to run it again.  Schedules in which little
// happens prove little, so the number of elections can be demanded.
#include <bellwether/election_plugin.h>
#include <fmt/core.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hh"
#include "cli/progress.hh"
#include "cli/simulate.hh"
#include "simulator/fault_schedule.hh"
#include "simulator/scenario.hh"

namespace bellwether::cli {
namespace {

struct FaultReport {
  uint64_t schedules = 0;
  uint64_t elections = 0;  // claims that became effective
  uint64_t faults = 0;     // and commands of operators
  uint64_t steps = 0;
  Duration virtual_time{};
  uint64_t failed = 0;
  // Of the lowest seed that failed.
  std::optional<uint64_t> failing_seed;
  std::string failing_scenario;
  std::string failure;
};

constexpr auto kProgressInterval = std::chrono::milliseconds(500);

// All seeds, with one variant.  What the threads share: the next seed to run, and the sum of what
// they found.
class Runs {
 public:
  Runs(const Simulation& simulation, const std::string& variant)
      : plugin_(simulation.plugin),
        options_(simulation.options),
        variant_(variant),
        next_seed_(options_.fault_seeds.first) {}

  FaultReport run() {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < options_.jobs; ++i) threads.emplace_back([this] { work(); });
    wait_for_all();
    threads.clear();
    return std::move(report_);
  }

 private:
  void work() {
    while (true) {
      const uint64_t seed = next_seed_.fetch_add(1);
      if (seed > options_.fault_seeds.last) break;
      const std::string text =
          simulator::fault_scenario(seed, plugin_, variant_, options_.guarding);
      add(seed, text, run_one(seed, text));
    }
    const std::lock_guard lock(mutex_);
    ++finished_;
    finished_changed_.notify_one();
  }

  void wait_for_all() {
    const uint64_t all = options_.fault_seeds.last - options_.fault_seeds.first + 1;
    Progress progress;
    std::unique_lock lock(mutex_);
    while (!finished_changed_.wait_for(lock, kProgressInterval,
                                       [&] { return finished_ == options_.jobs; })) {
      progress.tell(fmt::format("{}: {} of {} schedules, {} failed", variant_, report_.schedules,
                                all, report_.failed));
    }
  }

  // A thread has nobody to throw to; a schedule that cannot be run has failed.
  simulator::ScenarioResult run_one(uint64_t seed, const std::string& text) {
    const std::string name = "seed " + std::to_string(seed);
    try {
      return simulator::run_scenario(
          simulator::parse_scenario(name, text),
          {.plugin = &plugin_, .variant = variant_, .seed = seed, .trace = nullptr});
    } catch (const std::exception& error) {
      simulator::ScenarioResult broken;
      broken.failure = error.what();
      return broken;
    }
  }

  void add(uint64_t seed, const std::string& text, const simulator::ScenarioResult& result) {
    const std::lock_guard lock(mutex_);
    ++report_.schedules;
    report_.elections += result.claims;
    report_.faults += simulator::faults_in(text);
    report_.steps += result.steps;
    report_.virtual_time += result.virtual_time;
    if (result.has_passed) return;
    ++report_.failed;
    if (report_.failing_seed && *report_.failing_seed < seed) return;
    report_.failing_seed = seed;
    report_.failing_scenario = text;
    report_.failure = result.failure;
  }

  const election_plugin& plugin_;
  const SimulateOptions& options_;
  const std::string& variant_;
  std::atomic<uint64_t> next_seed_;
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  unsigned finished_ = 0;
  FaultReport report_;
};

using Seconds = std::chrono::duration<double>;

std::string in_words(Duration duration) {
  const auto days = std::chrono::floor<std::chrono::days>(duration);
  const std::chrono::hh_mm_ss parts(std::chrono::floor<std::chrono::seconds>(duration - days));
  const auto hours = parts.hours().count();
  const auto minutes = parts.minutes().count();
  if (days.count() > 0) return fmt::format("{} d {} h", days.count(), hours);
  if (hours > 0) return fmt::format("{} h {} min", hours, minutes);
  return fmt::format("{} min {} s", minutes, parts.seconds().count());
}

// What did not happen in n independent tries happens in less than 3/n of them, with 95 % confidence
// (the rule of three).
void print_summary(const std::string& variant, const FaultReport& report, Seconds wall_time) {
  std::cout << fmt::format(
      "{}: {} schedules, {} elections, {} faults, {} of virtual time, {} failed, in {:.1f} s",
      variant, report.schedules, report.elections, report.faults, in_words(report.virtual_time),
      report.failed, wall_time.count());
  const uint64_t bound = report.elections / 3;
  if (report.failed == 0 && bound > 0) {
    std::cout << fmt::format("; less than 1 failure in {} elections (95 % confidence)", bound);
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
  std::string plugin;
  const SimulateOptions usual;
  static constexpr PerValue<simulator::Guarding, const char*> kGuards(
      {"", " --guard majority", " --guard store"});
  const char* const guard = kGuards[options.guarding];
  if (options.plugin != usual.plugin) plugin += " --plugin " + in_shell(options.plugin);
  if (!options.plugin_dir.empty()) plugin += " --plugin-dir " + in_shell(options.plugin_dir);
  const uint64_t seed = *report.failing_seed;
  // The marks are comments: it does no harm to save them, too.
  std::cout << fmt::format(
      R"(FAILED  {0}, seed {1}
{2}
# ---- 8< ---- the schedule as a scenario file
{3}
# ---- 8< ---- its end
To run it again: bellwether simulate{4} --variant {5}{6} --fault-seeds {1}
To see its trace, save it and run it: bellwether simulate{4} {7}
)",
      variant, seed, report.failure, report.failing_scenario, plugin, in_shell(variant), guard,
      in_shell(fmt::format("seed_{}_{}.txt", seed, variant)));
}

}  // namespace

ExitCode run_random_faults(const Simulation& simulation) {
  using Clock = std::chrono::steady_clock;
  ExitCode code = ExitCode::kOk;
  for (const std::string& variant : simulation.variants) {
    const Clock::time_point start = Clock::now();
    const FaultReport report = Runs(simulation, variant).run();
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
