// Random schedules of faults.  A seed decides everything: the size of the group, its settings, the
// faults and when they happen.  A schedule is a scenario, so that one that fails can be kept as a
// file and read.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <string>

namespace bellwether::simulator {

// The schedule of this seed, as the text of a scenario file: faults for a while, then everything is
// repaired, and within the time that its settings allow (recovery_budget() in scenario_expect.cc)
// there must be one leader on whom all agree.
enum class Guarding : uint8_t { kNone, kMajority, kStore, kLast = kStore };
std::string fault_scenario(uint64_t seed, const election_plugin& plugin, const std::string& variant,
                           Guarding guarding = Guarding::kNone);

// How many faults and commands of operators such a schedule has before it repairs everything.
uint64_t faults_in(const std::string& schedule);

}  // namespace bellwether::simulator
