// Many random fault schedules, on several threads: each schedule is a virtual cluster of its own.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.hh"
#include "core/rules.hh"
#include "simulator/fault_schedule.hh"

namespace bellwether {

struct FaultRun {
  const election_plugin* plugin = nullptr;
  std::string variant;
  simulator::Guarding guarding = simulator::Guarding::kNone;
  uint64_t first_seed = 1;
  uint64_t last_seed = 1;
  unsigned threads = 1;
  RuleSet broken_rules{};  // tests only
  // Called from the calling thread about every half second with how many are done.
  std::function<void(uint64_t done, uint64_t failed)> progress{};
};

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

// Runs all seeds from first to last.
FaultReport run_fault_seeds(const FaultRun& run);

}  // namespace bellwether
