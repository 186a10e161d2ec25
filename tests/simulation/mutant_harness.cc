// Breaks one rule at a time, in scenarios and in random schedules.
#include "mutant_harness.hh"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "simulator/scenario.hh"

namespace bellwether::tests {
namespace {

using simulator::ScenarioResult;

// So many schedules may pass before a broken rule is found.
constexpr uint64_t kSearchLimit = 8000;

// Thousands of schedules are for optimised builds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasTimeToSearch = false;
#else
constexpr bool kHasTimeToSearch = true;
#endif

ScenarioResult run(const std::string& name, const std::string& text, const std::string& variant,
                   const Mutation& mutation, uint64_t seed = 1) {
  const Breaking rule(mutation.rule);
  return simulator::run_scenario(simulator::parse_scenario(name, text),
                                 {.plugin = mutation.plugin,
                                  .variant = variant,
                                  .seed = seed,
                                  .broken_assumption = mutation.assumption,
                                  .trace = nullptr});
}

std::string read_scenario(const std::string& name) {
  std::ifstream in(BELLWETHER_SCENARIOS "/mutants/" + name + ".txt");
  BOOST_REQUIRE_MESSAGE(in, "the scenario " + name + " is there");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

void check_scenario(const std::string& name, const Mutation& mutation,
                    const std::vector<std::string>& variants) {
  const std::string text = read_scenario(name);
  for (const std::string& variant : variants) {
    BOOST_TEST_CONTEXT(variant) {
      BOOST_TEST(run(name, text, variant, {}).failure == "");
      const ScenarioResult broken = run(name, text, variant, mutation);
      BOOST_TEST(!broken.has_passed);
      BOOST_TEST_MESSAGE(broken.failure);
    }
  }
}

void check_first_broken(const std::string& name, const Mutation& mutation,
                        const std::string& invariant) {
  const std::string text = read_scenario(name);
  for (const char* variant : {"classic", "modified"}) {
    BOOST_TEST_CONTEXT(variant) {
      const ScenarioResult broken = run(name, text, variant, mutation);
      BOOST_TEST(broken.failure.find(invariant) != std::string::npos, broken.failure);
    }
  }
}

void check_search(const Mutation& mutation, const std::string& variant, Guarding guarding) {
  if (!kHasTimeToSearch) return;
  for (uint64_t seed = 1; seed <= kSearchLimit; ++seed) {
    const std::string text =
        simulator::fault_scenario(seed, bellwether_election_plugin, variant, guarding);
    const ScenarioResult result =
        run("seed " + std::to_string(seed), text, variant, mutation, seed);
    if (result.has_passed) continue;
    BOOST_TEST_MESSAGE(result.failure);
    return;
  }
  BOOST_ERROR("no schedule up to " << kSearchLimit << " finds the broken rule");
}

}  // namespace bellwether::tests
