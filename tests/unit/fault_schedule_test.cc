// Random schedules of faults: a seed is always the same text, and every text is a scenario that can
// be read, run and kept.
#include "simulator/fault_schedule.hh"

#include <boost/test/unit_test.hpp>
#include <set>

#include "simulator/scenario.hh"
#include "simulator/scenario_verbs.hh"

namespace bellwether::simulator {
namespace {

constexpr uint64_t kSeeds = 300;

std::set<std::string> verb_names() {
  std::set<std::string> names;
  for (const Verb& verb : verbs()) names.insert(verb.name);
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fault_schedule)

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_text) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BOOST_TEST(fault_scenario(seed, bellwether_election_plugin, "classic") ==
               fault_scenario(seed, bellwether_election_plugin, "classic"));
  }
}

BOOST_AUTO_TEST_CASE(every_seed_gives_another_text) {
  std::set<std::string> texts;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed)
    texts.insert(fault_scenario(seed, bellwether_election_plugin, "classic"));
  BOOST_TEST(texts.size() == kSeeds);
}

BOOST_AUTO_TEST_CASE(the_variants_meet_the_same_faults) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::string text = fault_scenario(seed, bellwether_election_plugin, "classic");
    text.replace(text.find("classic"), 7, "modified");
    BOOST_TEST(text == fault_scenario(seed, bellwether_election_plugin, "modified"));
  }
}

BOOST_AUTO_TEST_CASE(every_line_is_a_comment_or_a_verb_of_the_table) {
  const std::set<std::string> names = verb_names();
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario =
        parse_scenario("seed", fault_scenario(seed, bellwether_election_plugin, "modified"));
    for (const Paragraph& paragraph : scenario.paragraphs) {
      for (const Command& command : paragraph.commands) {
        BOOST_TEST(names.contains(command.words.front()), command.words.front());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(all_faults_are_drawn_sooner_or_later) {
  std::set<std::string> missing{
      "kill",      "restart",  "start", "pause",   "resume",   "partition",   "cut",
      "heal",      "reset",    "hold",  "release", "drop",     "disk",        "clock",
      "step_down", "transfer", "elect", "leave",   "priority", "reconfigure", "join"};
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario =
        parse_scenario("seed", fault_scenario(seed, bellwether_election_plugin, "modified"));
    for (const Command& command : scenario.paragraphs.front().commands) {
      missing.erase(command.words.front());
    }
  }
  BOOST_TEST(missing.empty(), "never drawn: " << (missing.empty() ? "" : *missing.begin()));
}

BOOST_AUTO_TEST_CASE(every_schedule_demands_one_leader_and_one_list_when_its_faults_are_over) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string text = fault_scenario(seed, bellwether_election_plugin, "modified");
    BOOST_TEST(text.find("\nexpect agreement within budget\nsettle\nexpect agreement\n"
                         "expect one list\n") != std::string::npos);
    BOOST_TEST(text.find("\nmark\nelect ") != std::string::npos);
  }
}

constexpr const char* kLastDemand = "\nwait 2s\nexpect bounded cost\n";

BOOST_AUTO_TEST_CASE(every_schedule_ends_with_an_election_that_costs_no_more_than_it_must) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    BOOST_TEST(fault_scenario(seed, bellwether_election_plugin, "modified").ends_with(kLastDemand));
  }
}

BOOST_AUTO_TEST_CASE(a_guarded_schedule_makes_these_demands_before_it_tells_a_story) {
  std::set<std::string> ends;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string text =
        fault_scenario(seed, bellwether_election_plugin, "modified", Guarding::kMajority);
    const size_t demand = text.find(kLastDemand);
    BOOST_TEST_REQUIRE(demand != std::string::npos);
    const std::string end = text.substr(demand + std::string(kLastDemand).size());
    if (!end.empty()) ends.insert(end.substr(0, end.find('\n')));
  }
  BOOST_TEST(ends.size() == 5u);
}

BOOST_AUTO_TEST_CASE(wall_clocks_of_guarded_schedules_may_be_wrong_when_a_voter_dies) {
  uint64_t wrong = 0;
  uint64_t fatal = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string text =
        fault_scenario(seed, bellwether_election_plugin, "modified", Guarding::kMajority);
    const std::string begin = text.substr(0, text.find("wait 1500"));
    if (begin.find("days_ahead") != std::string::npos) ++wrong;
    if (begin.find("at stored") != std::string::npos) ++fatal;
  }
  BOOST_TEST(wrong > kSeeds / 10);
  BOOST_TEST(fatal > kSeeds / 20);
  BOOST_TEST(wrong < kSeeds / 2);
}

BOOST_AUTO_TEST_CASE(every_line_makes_sense_to_the_cluster) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string text = fault_scenario(seed, bellwether_election_plugin, "modified");
    const Scenario scenario = parse_scenario("seed " + std::to_string(seed), text);
    const ScenarioResult result =
        run_scenario(scenario, {.plugin = &bellwether_election_plugin, .trace = nullptr});
    BOOST_TEST(result.failure == "");
    BOOST_TEST(result.rewritten == text);
  }
}

BOOST_AUTO_TEST_CASE(the_same_schedule_is_the_same_run) {
  const Scenario scenario =
      parse_scenario("seed", fault_scenario(11, bellwether_election_plugin, "modified"));
  const auto trace = [&] {
    std::string lines;
    run_scenario(scenario, {.plugin = &bellwether_election_plugin,
                            .trace = [&](const std::string& line) { lines += line + "\n"; }});
    return lines;
  };
  const std::string first = trace();
  BOOST_TEST(first.size() > 1000u);
  BOOST_TEST(first == trace());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::simulator
