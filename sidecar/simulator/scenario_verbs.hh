// The table of the scenario language: each verb once, with its syntax, its help and what it does.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {

struct Verb {
  const char* name;
  const char* syntax;  // what follows the name
  const char* help;
  // Reads the words behind the name; what it leaves over is refused.
  void (*run)(ScenarioRunner& runner, Words& words);
};

// The most that a wall clock may be wrong by: a hundred years.
inline constexpr uint64_t kMostDaysAhead = 36500;

std::span<const Verb> verbs();

// The table as help for people.
void print_verbs(std::ostream& out);

}  // namespace bellwether::simulator
