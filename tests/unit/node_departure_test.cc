// Giving leadership up in good order: step-down, transfer, leave; and the operator's elect.  The
// flag goes off first, then the successor is asked to claim, and whoever does not is replaced.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

// 5 of 1..5 leads, so that everybody else may succeed it.
struct Leader : NodeHarness {
  explicit Leader(const Options& options = {}) : NodeHarness({.self = 5, .options = options}) {
    lead();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_departure)

// --- step-down ---

BOOST_AUTO_TEST_CASE(a_step_down_puts_the_flag_off_and_then_asks_the_next_in_line) {
  Leader node;
  const Effects effects = node.step(StepDown{});
  BOOST_TEST(everything(effects) == "done, no leader, HANDOVER to 4");
  BOOST_TEST(header_of_sent<PlannedHandover>(effects).released == 1u);
  BOOST_TEST(!find_sent<PlannedHandover>(effects)->is_appointed);
}

BOOST_AUTO_TEST_CASE(only_a_leader_can_step_down) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.step(StepDown{})) == "not leader");
}

BOOST_AUTO_TEST_CASE(the_successors_claim_ends_the_handover) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  BOOST_TEST(published(node.receive(4, 2, Coordinator{})) == "follows 4 in 2");
  BOOST_TEST(!node.node().timers().is_armed(Timer::kHandover));
}

BOOST_AUTO_TEST_CASE(a_successor_that_does_not_claim_is_replaced_by_the_next) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  const Effects effects = node.run_for(milliseconds(300));
  BOOST_TEST(sent(effects) == "HANDOVER to 3");
  BOOST_TEST(reported<TimedOut>(effects) == "handover");
}

BOOST_AUTO_TEST_CASE(after_three_that_did_not_claim_it_resigns) {
  Leader node;
  std::string asked = sent(node.step(StepDown{.hold = seconds(30)}));
  for (int i = 0; i < 2; ++i) asked += ", " + sent(node.run_for(milliseconds(300)));
  BOOST_TEST(asked == "HANDOVER to 4, HANDOVER to 3, HANDOVER to 2");
  const Effects effects = node.run_for(milliseconds(300));
  BOOST_TEST(sent(effects) == "RESIGN to 1, RESIGN to 2, RESIGN to 3, RESIGN to 4");
  BOOST_TEST(header_of_sent<Resign>(effects).released == 1u);
}

BOOST_AUTO_TEST_CASE(without_anybody_to_ask_it_resigns_at_once) {
  NodeHarness node({.self = 5});
  node.step(Start{});
  Hello witness = NodeHarness::hello_of(1);
  witness.self.is_electable = false;
  node.connect(witness);
  node.step(Joined{});
  node.run_for(Duration::zero());
  BOOST_TEST(everything(node.step(StepDown{.hold = seconds(30)})) ==
             "done, no leader, RESIGN to 1");
}

BOOST_AUTO_TEST_CASE(who_is_suspected_or_may_not_lead_is_no_successor) {
  Leader node;
  node.disconnect(4, LinkEvidence::kTimeout);
  node.acknowledge(3, false);
  BOOST_TEST(sent(node.step(StepDown{})) == "HANDOVER to 2");
}

BOOST_AUTO_TEST_CASE(while_it_hands_over_it_does_not_elect) {
  Leader node;
  node.step(StepDown{});
  BOOST_TEST(!node.node().may_lead());
  const Effects effects =
      node.receive(1, 1, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 1}, 1);
  BOOST_TEST((find_sent<ElectionFrame>(effects)->flags & ELECTION_FLAG_ELECTABLE) == 0u);
}

BOOST_AUTO_TEST_CASE(during_the_hold_it_may_not_lead) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  node.receive(4, 2, Coordinator{});
  node.disconnect(4, LinkEvidence::kRefused);
  node.run_for(seconds(29));
  BOOST_TEST(!node.node().may_lead());
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(after_the_hold_it_may_lead_again) {
  Leader node;
  node.step(StepDown{.hold = seconds(1)});
  node.receive(4, 2, Coordinator{});
  node.disconnect(4, LinkEvidence::kRefused);
  node.run_for(seconds(5));
  BOOST_TEST(node.role() == "leads in 3");
}

BOOST_AUTO_TEST_CASE(after_the_hold_it_takes_over_from_a_lower_rank) {
  Leader node;
  node.step(StepDown{.hold = milliseconds(300)});
  node.receive(4, 2, Coordinator{});
  node.run_for(milliseconds(200));
  BOOST_TEST(node.role() == "follows 4 in 2");
  node.run_for(milliseconds(100));
  BOOST_TEST(node.role() == "asks 4");
}

// Whoever asks has heard by then that it cannot, and may win.
BOOST_AUTO_TEST_CASE(a_hold_that_ends_during_the_election_of_another_waits_for_its_end) {
  const Options options{.variant = "classic"};
  Leader node(options);
  node.step(StepDown{.hold = milliseconds(300)});
  node.receive(4, 2, Coordinator{});
  node.receive(4, 2, Resign{}, 2);
  node.run_for(milliseconds(299));
  node.receive(4, 2, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 1}, 2);
  node.run_for(options.coordinator_timeout - milliseconds(1));
  BOOST_TEST(node.node().may_lead());
  BOOST_TEST(node.role() == "leaderless");
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "leads in 3");
}

// --- transfer ---

BOOST_AUTO_TEST_CASE(a_transfer_asks_the_named_member) {
  Leader node;
  const Effects effects = node.step(Transfer{uuid(2)});
  BOOST_TEST(everything(effects) == "done, no leader, HANDOVER to 2");
  BOOST_TEST(find_sent<PlannedHandover>(effects)->is_appointed);
}

BOOST_AUTO_TEST_CASE(only_a_leader_can_transfer) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.step(Transfer{uuid(2)})) == "not leader");
}

BOOST_AUTO_TEST_CASE(a_transfer_to_a_stranger_is_refused) {
  Leader node;
  BOOST_TEST(everything(node.step(Transfer{uuid(99)})) == "unknown member");
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(a_transfer_to_who_cannot_lead_now_is_refused) {
  Leader node;
  node.disconnect(1, LinkEvidence::kClosed);
  node.acknowledge(2, false);
  node.disconnect(3, LinkEvidence::kRefused);
  for (const uint32_t number : {1u, 2u, 3u}) {
    BOOST_TEST(everything(node.step(Transfer{uuid(number)})) == "not eligible");
  }
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(a_named_member_that_does_not_claim_is_replaced_by_nobody) {
  Leader node({.preempt_delay = seconds(30)});
  node.step(Transfer{uuid(2)});
  BOOST_TEST(sent(node.run_for(milliseconds(300))) ==
             "RESIGN to 1, RESIGN to 2, RESIGN to 3, RESIGN to 4");
}

BOOST_AUTO_TEST_CASE(a_leader_that_an_operator_named_is_not_preempted) {
  Leader node;
  node.step(Transfer{uuid(2)});
  node.receive(2, 2, Coordinator{.is_appointed = true});
  BOOST_TEST(sent(node.run_for(milliseconds(400))) == "");
  BOOST_TEST(node.role() == "follows 2 in 2");
}

// --- the successor ---

BOOST_AUTO_TEST_CASE(who_is_asked_to_take_over_claims_at_once) {
  NodeHarness node;
  node.follow(5, 1);
  const Effects effects = node.receive(5, 1, PlannedHandover{.is_appointed = true}, 1);
  BOOST_TEST(published(effects) == "no leader, leads in 2");
  BOOST_TEST(sent(effects) ==
             "COORDINATOR to 1, COORDINATOR to 2, COORDINATOR to 4, COORDINATOR to 5");
  BOOST_TEST(find_sent<Coordinator>(effects)->is_appointed);
}

BOOST_AUTO_TEST_CASE(an_appointed_leader_says_so_in_every_beat_and_hello) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(5, 1, PlannedHandover{.is_appointed = true}, 1);
  BOOST_TEST(find_sent<Heartbeat>(node.run_for(milliseconds(100)))->is_appointed);
  BOOST_TEST(node.node().hello().leader->is_appointed);
}

BOOST_AUTO_TEST_CASE(only_the_leader_it_follows_can_ask_it_to_take_over) {
  NodeHarness node;
  node.follow(5, 1);
  const Effects effects = node.receive(2, 1, PlannedHandover{}, 1);
  BOOST_TEST(reported<Stale>(effects) == "HANDOVER");
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(a_request_to_take_over_an_older_epoch_is_ignored) {
  NodeHarness node;
  node.follow(5, 4);
  BOOST_TEST(everything(node.receive(5, 3, PlannedHandover{}, 3)) == "");
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_does_not_take_over) {
  NodeHarness node({.priority = 0});
  node.follow(5, 1);
  BOOST_TEST(sent(node.receive(5, 1, PlannedHandover{}, 1)) == "WISH to 5");
  BOOST_TEST(!node.node().is_leading());
}

// --- leave ---

BOOST_AUTO_TEST_CASE(a_follower_that_leaves_says_so_to_everybody) {
  NodeHarness node;
  node.follow(5, 1);
  const Effects effects = node.step(LeaveGroup{});
  BOOST_TEST(everything(effects) ==
             "no leader, LEAVE to 1, LEAVE to 2, LEAVE to 4, LEAVE to 5, left");
  BOOST_TEST(find_sent<Leave>(effects)->boot == 1u);
  BOOST_TEST(node.node().has_left());
}

BOOST_AUTO_TEST_CASE(a_leader_that_leaves_hands_over_first) {
  Leader node;
  BOOST_TEST(everything(node.step(LeaveGroup{})) == "no leader, HANDOVER to 4");
  BOOST_TEST(!node.node().has_left());
  BOOST_TEST(everything(node.receive(4, 2, Coordinator{})) ==
             "follows 4 in 2, store 2, no leader, "
             "LEAVE to 1, LEAVE to 2, LEAVE to 3, LEAVE to 4, left");
}

BOOST_AUTO_TEST_CASE(a_leader_that_nobody_succeeds_leaves_all_the_same) {
  Leader node;
  node.step(LeaveGroup{});
  const Effects effects = node.run_for(milliseconds(900));
  BOOST_TEST(node.node().has_left());
  BOOST_TEST(everything(effects).ends_with(", left"));
  BOOST_TEST(find_sent<Resign>(effects).has_value());
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_alone_leaves_at_once) {
  NodeHarness node;
  node.step(Start{});
  node.step(Joined{});
  node.run_for(Duration::zero());
  BOOST_TEST(everything(node.step(LeaveGroup{})) == "no leader, no leader, left");
}

BOOST_AUTO_TEST_CASE(nothing_comes_out_of_a_node_that_has_left) {
  NodeHarness node;
  node.follow(5, 1).step(LeaveGroup{});
  BOOST_TEST(node.tick().empty());
  BOOST_TEST(node.receive(5, 9, Coordinator{}).empty());
  BOOST_TEST(node.connect(6).empty());
  BOOST_TEST(node.step(Elect{}).empty());
}

// --- elect ---

BOOST_AUTO_TEST_CASE(an_operator_can_call_an_election_while_there_is_a_leader) {
  NodeHarness node;
  node.follow(5, 1);
  const Effects effects = node.step(Elect{});
  BOOST_TEST(everything(effects) == "done, ELECTION to 4, ELECTION to 5");
  BOOST_TEST((find_sent<ElectionFrame>(effects)->flags & ELECTION_FLAG_CALLED) != 0u);
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_holds_no_election) {
  NodeHarness node({.priority = 0});
  node.follow(5, 1);
  BOOST_TEST(everything(node.step(Elect{})) == "not eligible");
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_told_to_elect_claims_a_new_epoch) {
  Leader node;
  BOOST_TEST(published(node.step(Elect{})) == "leads in 2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
