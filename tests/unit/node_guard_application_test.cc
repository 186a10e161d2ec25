// The application under guard "majority": the flag goes off first here, too, for nobody works; a
// claim whose application ends is given up.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

constexpr Application kGone{.ability = Ability::kAbsent};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_guard_application)

BOOST_AUTO_TEST_CASE(a_leader_without_its_application_does_not_lead_until_it_is_succeeded) {
  GuardHarness node({.self = 5});
  node.lead();
  const Effects effects = node.step(kGone);
  BOOST_TEST(everything(effects).starts_with("no leader, HANDOVER to 4"));
  BOOST_TEST(header_of_sent<PlannedHandover>(effects).released == 1u);
  BOOST_TEST(node.node().is_handing_over());
}

BOOST_AUTO_TEST_CASE(its_vote_for_the_successor_waits_for_nothing) {
  GuardHarness node({.self = 5});
  node.lead();
  node.step(kGone);
  node.receive(4, 2, Coordinator{.is_planned = true, .sequence = 1, .terms = node.terms()}, 1);
  const auto grant = find_sent<Grant>(node.disk_has_it());
  BOOST_REQUIRE(grant.has_value());
  BOOST_TEST(grant->is_granted);
  BOOST_TEST(grant->waits.empty());
}

BOOST_AUTO_TEST_CASE(who_hands_over_and_leads_on_stops_when_its_application_ends) {
  GuardHarness node({.self = 5});
  node.lead();
  node.step(StepDown{.hold = seconds(30)});
  BOOST_REQUIRE(node.node().is_leading());
  const Effects effects = node.step(kGone);
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(!find_sent<PlannedHandover>(effects).has_value());
}

BOOST_AUTO_TEST_CASE(a_claim_is_given_up) {
  GuardHarness node({.self = 5});
  node.claim();
  BOOST_TEST(sent(node.step(kGone)).starts_with("RESIGN to 1"));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(a_canvass_is_given_up) {
  GuardHarness node({.self = 5});
  node.canvass();
  node.step(kGone);
  BOOST_TEST(!node.node().is_candidate());
}

BOOST_AUTO_TEST_CASE(its_vote_does_not_need_an_application) {
  GuardHarness node({.self = 3});
  node.join();
  node.step(kGone);
  node.receive_claim(5, 1);
  const auto grant = find_sent<Grant>(node.disk_has_it());
  BOOST_REQUIRE(grant.has_value());
  BOOST_TEST(grant->is_granted);
}

BOOST_AUTO_TEST_CASE(the_score_of_a_claim_stays_with_it) {
  GuardHarness node({.self = 5});
  node.claim();
  node.step(Application{.score = 9});
  BOOST_TEST(find_sent<Heartbeat>(node.run_for(milliseconds(100)))->score == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
