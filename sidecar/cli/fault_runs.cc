// Threads that take seeds from one counter and add up what they find.
#include "cli/fault_runs.hh"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "simulator/scenario.hh"

namespace bellwether {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(500);

// What the threads share: the next seed to run, and the sum of what they found.
class Runs {
 public:
  explicit Runs(const FaultRun& run) : run_(run), next_seed_(run.first_seed) {}

  void work() {
    while (true) {
      const uint64_t seed = next_seed_.fetch_add(1);
      if (seed > run_.last_seed) break;
      const std::string text =
          simulator::fault_scenario(seed, *run_.plugin, run_.variant, run_.guarding);
      add(seed, text, run_one(seed, text));
    }
    const std::lock_guard lock(mutex_);
    ++finished_;
    finished_changed_.notify_one();
  }

  void wait_for_all(unsigned threads) {
    std::unique_lock lock(mutex_);
    while (!finished_changed_.wait_for(lock, kProgressInterval,
                                       [&] { return finished_ == threads; })) {
      if (run_.progress) run_.progress(report_.schedules, report_.failed);
    }
  }

  FaultReport take_report() { return std::move(report_); }

 private:
  // A thread has nobody to throw to; a schedule that cannot be run has failed.
  simulator::ScenarioResult run_one(uint64_t seed, const std::string& text) {
    const std::string name = "seed " + std::to_string(seed);
    try {
      return simulator::run_scenario(simulator::parse_scenario(name, text),
                                     {.plugin = run_.plugin,
                                      .variant = run_.variant,
                                      .seed = seed,
                                      .broken_rules = run_.broken_rules,
                                      .trace = nullptr});
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

  const FaultRun& run_;
  std::atomic<uint64_t> next_seed_;
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  unsigned finished_ = 0;
  FaultReport report_;
};

}  // namespace

FaultReport run_fault_seeds(const FaultRun& run) {
  Runs runs(run);
  std::vector<std::jthread> threads;
  const unsigned count = std::max(1u, run.threads);
  for (unsigned i = 0; i < count; ++i) threads.emplace_back([&runs] { runs.work(); });
  runs.wait_for_all(count);
  threads.clear();
  return runs.take_report();
}

}  // namespace bellwether
