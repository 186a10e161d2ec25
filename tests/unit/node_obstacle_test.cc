// A node says what keeps it from leading: each reason in its situation.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool meets(const NodeHarness& node, Obstacle obstacle) {
  return node.node().obstacle() == obstacle;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_obstacle)

BOOST_AUTO_TEST_CASE(priority_zero_is_one_for_ever) {
  NodeHarness node({.priority = 0});
  BOOST_TEST(meets(node.join(), Obstacle::kPriorityZero));
}

BOOST_AUTO_TEST_CASE(who_stepped_down_hands_over_and_then_is_on_hold) {
  NodeHarness node;
  BOOST_TEST(meets(node.lead(), Obstacle::kNone));
  node.step(StepDown{.hold = seconds(1)});
  BOOST_TEST(meets(node, Obstacle::kHold));
  NodeHarness without_hold;
  without_hold.lead().connect(5);
  without_hold.step(StepDown{});
  BOOST_TEST(meets(without_hold, Obstacle::kHandingOver));
}

BOOST_AUTO_TEST_CASE(who_leaves_hands_over_first) {
  GuardHarness node({.self = 5});
  node.lead();
  node.step(LeaveGroup{});
  BOOST_TEST(meets(node, Obstacle::kHandingOver));
  node.run_for(seconds(2));
  BOOST_TEST(meets(node, Obstacle::kLeaving));
}

BOOST_AUTO_TEST_CASE(who_is_none_of_the_voters_never_leads) {
  NodeHarness node({.self = 5, .options = guarded({}, 3)});
  BOOST_TEST(meets(node.join(), Obstacle::kNoVoter));
}

BOOST_AUTO_TEST_CASE(a_restart_is_no_step_down) {
  GuardHarness node({.self = 5, .record = {.max_epoch = 1, .lease_seen = seconds(1)}});
  BOOST_TEST(meets(node.join(), Obstacle::kBootWait));
  node.run_for(seconds(1));
  BOOST_TEST(meets(node, Obstacle::kNone));
}

BOOST_AUTO_TEST_CASE(a_voter_that_forgot_a_broken_disk_and_too_few_voters_are_told_apart) {
  GuardHarness forgot;
  forgot.step(Start{.is_state_lost = true});
  BOOST_TEST(meets(forgot, Obstacle::kForgotten));

  GuardHarness node({.self = 5});
  node.vote_for_self();
  node.disk_fails();
  BOOST_TEST(meets(node, Obstacle::kNoDisk));
  node.disk_has_it();
  BOOST_TEST(meets(node, Obstacle::kNone));
  for (const uint32_t voter : {1u, 2u, 3u}) node.disconnect(voter, LinkEvidence::kClosed);
  BOOST_TEST(meets(node, Obstacle::kNoContact));
  BOOST_TEST(node.node().reached_voters() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
