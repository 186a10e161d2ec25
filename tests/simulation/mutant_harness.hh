// What the tests of mutants have in common: a rule that is broken, and what must notice it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutant_plugin.hh"
#include "rules.hh"
#include "simulator/cluster.hh"
#include "simulator/fault_schedule.hh"

namespace bellwether::tests {

using simulator::Assumption;
using simulator::Guarding;

struct Mutation {
  const election_plugin* plugin = &bellwether_election_plugin;
  Rule rule = Rule::kNone;
  std::optional<Assumption> assumption{};
};

inline Mutation without(Rule rule) { return {.rule = rule}; }
inline Mutation without(Assumption assumption) { return {.assumption = assumption}; }
inline Mutation without(PluginRule rule) { return {.plugin = &plugin_without(rule)}; }

// The scenario of tests/scenarios/mutants passes as it is, and fails with the rule broken.
void check_scenario(const std::string& name, const Mutation& mutation,
                    const std::vector<std::string>& variants);
// With the rule broken, this is the first thing that is wrong.
void check_first_broken(const std::string& name, const Mutation& mutation,
                        const std::string& invariant);
// A random schedule fails with the rule broken, within a bounded search.
void check_search(const Mutation& mutation, const std::string& variant,
                  Guarding guarding = Guarding::kNone);

inline const std::vector<std::string> kBoth = {"classic", "modified"};
inline const std::vector<std::string> kClassic = {"classic"};
inline const std::vector<std::string> kModified = {"modified"};

}  // namespace bellwether::tests
