// The table of the scenario language: each verb once, with its syntax, its help and what it does.
#pragma once

#include <ostream>
#include <span>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {

struct Verb {
  const char* name;
  const char* syntax;  // what follows the name
  const char* help;
  void (*run)(ScenarioRunner& runner, const Command& command);
};

std::span<const Verb> verbs();

// The table as help for people.
void print_verbs(std::ostream& out);

}  // namespace bellwether::simulator
