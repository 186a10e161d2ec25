// Whole elections of real nodes are counted once at every node, with why they began, how they ended
// and what they cost.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "small_group.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

std::string elections(const std::string& variant, const std::string& trigger,
                      const std::string& result) {
  return "elections_total{result=\"" + result + "\",trigger=\"" + trigger + "\",variant=\"" +
         variant + "\"}";
}

std::string election_messages(const std::string& variant) {
  return "election_messages_sum{variant=\"" + variant + "\"}";
}

std::string durations(const std::string& variant) {
  return "election_duration_seconds_count{variant=\"" + variant + "\"}";
}

// Three nodes that follow the third.
struct Three {
  explicit Three(const std::string& variant) : group(3, variant) {
    for (const size_t process : {2u, 1u, 0u}) {
      group.start(process);
      group.run_for(2s);
    }
  }

  SmallGroup group;
};

const auto kVariants = boost::unit_test::data::make({"classic", "modified"});

}  // namespace

BOOST_AUTO_TEST_SUITE(elections_of_real_nodes)

BOOST_DATA_TEST_CASE(who_starts_alone_wins_without_a_message, kVariants, variant) {
  SmallGroup group(1, variant);
  group.start(0);
  group.run_for(2s);
  BOOST_TEST(group.increase(0, elections(variant, "started", "won")) == 1);
  BOOST_TEST(group.increase(0, election_messages(variant)) == 0);
  BOOST_TEST(group.increase(0, durations(variant)) == 1);
  BOOST_TEST(group.increase(0, "is_leader") == 1);
  BOOST_TEST(group.increase(0, "timeouts_total{phase=\"join\"}") == 1);
}

BOOST_DATA_TEST_CASE(who_finds_a_leader_holds_no_election, kVariants, variant) {
  Three three(variant);
  BOOST_TEST(three.group.increase(0, election_messages(variant)) == 0);
  BOOST_TEST(three.group.increase(0, "leader_known") == 1);
  BOOST_TEST(three.group.increase(0, "leader_info{leader=\"node-2\"}") == 1);
  BOOST_TEST(three.group.increase(0, "leader_changes_total{reason=\"announced\"}") == 1);
}

// With its death proven the next in line is the highest: it asks nobody and tells everybody.
BOOST_DATA_TEST_CASE(the_next_in_line_wins_when_the_leader_dies, kVariants, variant) {
  Three three(variant);
  three.group.kill(2);
  three.group.run_for(1s);
  BOOST_TEST(three.group.increase(1, elections(variant, "leader_lost", "won")) == 1);
  BOOST_TEST(three.group.increase(1, election_messages(variant)) == 1);
  BOOST_TEST(three.group.increase(1, "leader_changes_total{reason=\"lost\"}") == 1);
  BOOST_TEST(three.group.increase(1, "leader_changes_total{reason=\"claimed\"}") == 1);
  BOOST_TEST(three.group.increase(1, "members{state=\"down\"}") == 1);
  BOOST_TEST(three.group.increase(0, "leader_info{leader=\"node-1\"}") == 1);
}

BOOST_DATA_TEST_CASE(who_outranks_the_leader_takes_over, kVariants, variant) {
  SmallGroup group(2, variant);
  group.start(0);
  group.run_for(2s);
  group.start(1);
  group.run_for(2s);
  BOOST_TEST(group.increase(1, elections(variant, "outranks", "won")) == 1);
  BOOST_TEST(group.increase(0, "leader_changes_total{reason=\"announced\"}") == 1);
  BOOST_TEST(group.increase(0, "is_leader") == 0);
}

// The lowest of three asks the others.  In the classic variant each that is asked holds an election
// of its own; in the modified one the asked halt, and the highest is told to take it from here.
BOOST_DATA_TEST_CASE(an_operators_election_is_counted_at_every_node, kVariants, variant) {
  Three three(variant);
  three.group.command(0, Elect{});
  three.group.run_for(2s);
  BOOST_TEST(three.group.increase(0, elections(variant, "operator", "followed")) == 1);
  BOOST_TEST(three.group.increase(1, elections(variant, "asked", "followed")) == 1);
  BOOST_TEST(three.group.increase(2, elections(variant, "asked", "won")) == 1);
  const bool is_classic = std::string(variant) == "classic";
  BOOST_TEST(three.group.increase(0, election_messages(variant)) == (is_classic ? 5 : 6));
  for (const size_t process : {0u, 1u, 2u}) {
    BOOST_TEST(three.group.increase(process, durations(variant)) >= 1);
  }
}

BOOST_DATA_TEST_CASE(a_planned_hand_over_is_no_election, kVariants, variant) {
  Three three(variant);
  three.group.increase(2, "is_leader");
  three.group.command(2, StepDown{.hold = 30s});
  three.group.run_for(1s);
  BOOST_TEST(three.group.increase(2, "is_leader") == -1);
  BOOST_TEST(three.group.increase(2, "leader_changes_total{reason=\"handed_over\"}") == 1);
  BOOST_TEST(three.group.increase(1, "is_leader") == 1);
  BOOST_TEST(three.group.increase(1, election_messages(variant)) == 0);
}

// A new life of the leader releases what the old one led.
BOOST_DATA_TEST_CASE(an_election_after_a_release_says_so, kVariants, variant) {
  Three three(variant);
  three.group.restart(2);
  three.group.run_for(2s);
  BOOST_TEST(three.group.increase(1, "leader_changes_total{reason=\"resigned\"}") == 1);
  BOOST_TEST(three.group.increase(1, elections(variant, "resigned", "followed")) == 1);
}

BOOST_DATA_TEST_CASE(an_election_after_a_step_down_that_nobody_took_is_a_retry, kVariants,
                     variant) {
  SmallGroup group(1, variant);
  group.start(0);
  group.run_for(2s);
  group.command(0, StepDown{.hold = 1s});
  BOOST_TEST(group.increase(0, "is_leader") == 0);
  group.run_for(10s);
  BOOST_TEST(group.increase(0, "is_leader") == 1);
  BOOST_TEST(group.increase(0, elections(variant, "retry", "won")) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
