// Whose claim a node accepts: a newer epoch is followed, an older one is refused with the reason,
// of equal epochs the higher rank wins.  And what ends a leadership that is followed: a release.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_claims)

namespace {

LeaderHint hint(uint32_t leader, uint64_t epoch) { return {.id = uuid(leader), .epoch = epoch}; }

}  // namespace
// --- claims that are accepted ---

BOOST_AUTO_TEST_CASE(a_coordinator_is_followed_without_an_answer) {
  NodeHarness node;
  BOOST_TEST(everything(node.join().receive(5, 1, Coordinator{})) == "follows 5 in 1, store 1");
}

BOOST_AUTO_TEST_CASE(a_coordinator_of_a_lower_rank_is_followed_when_its_epoch_is_new) {
  NodeHarness node({.options = {.preempt = Preempt::kOff}});
  node.follow(5, 1);
  BOOST_TEST(published(node.receive(1, 2, Coordinator{})) == "follows 1 in 2");
}

BOOST_AUTO_TEST_CASE(a_heartbeat_says_what_a_lost_coordinator_would_have_said) {
  NodeHarness node;
  const Effects effects = node.join().receive_beat(5, 1);
  BOOST_TEST(everything(effects) == "follows 5 in 1, store 1, HEARTBEAT_ACK to 5");
  BOOST_TEST(!find_sent<HeartbeatAck>(effects)->refusal.has_value());
}

BOOST_AUTO_TEST_CASE(the_same_claim_again_changes_nothing) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.receive(5, 1, Coordinator{})) == "");
}

BOOST_AUTO_TEST_CASE(of_equal_epochs_the_higher_rank_is_followed) {
  NodeHarness node;
  node.follow(4, 1);
  BOOST_TEST(published(node.receive(5, 1, Coordinator{})) == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(a_new_leader_ends_a_running_election) {
  NodeHarness node;
  node.join().step(Joined{});
  node.run_for(milliseconds(200));
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_COLLECTING});
  node.receive(5, 1, Coordinator{});
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_IDLE});
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPlugin));
}

// --- claims that are refused ---

BOOST_AUTO_TEST_CASE(a_coordinator_of_an_older_epoch_is_refused_with_a_hint) {
  NodeHarness node;
  node.follow(5, 4);
  const Effects effects = node.receive(2, 3, Coordinator{});
  BOOST_TEST(everything(effects) == "REFUSAL to 2");
  BOOST_TEST(reported<Stale>(effects) == "COORDINATOR");
  const auto refusal = find_sent<Refusal>(effects);
  BOOST_TEST(refusal->refused_epoch == 3u);
  BOOST_TEST((refusal->leader->id == uuid(5)));
  BOOST_TEST(refusal->leader->epoch == 4u);
  BOOST_TEST(header_of_sent<Refusal>(effects).epoch == 4u);
}

BOOST_AUTO_TEST_CASE(a_heartbeat_of_an_older_epoch_is_refused_in_its_ack) {
  NodeHarness node;
  node.follow(5, 4);
  const Effects effects = node.receive_beat(2, 3);
  BOOST_TEST(everything(effects) == "HEARTBEAT_ACK to 2");
  BOOST_TEST(reported<Stale>(effects) == "HEARTBEAT");
  const auto ack = find_sent<HeartbeatAck>(effects);
  BOOST_REQUIRE(ack->refusal.has_value());
  BOOST_TEST(ack->refusal->refused_epoch == 3u);
  BOOST_TEST((ack->refusal->leader->id == uuid(5)));
}

BOOST_AUTO_TEST_CASE(without_a_leader_a_refusal_names_none) {
  NodeHarness node({.record = {.max_epoch = 9}});
  const Effects effects = node.join().receive(2, 3, Coordinator{});
  BOOST_TEST(!find_sent<Refusal>(effects)->leader.has_value());
  BOOST_TEST(header_of_sent<Refusal>(effects).epoch == 9u);
}

BOOST_AUTO_TEST_CASE(of_equal_epochs_the_lower_rank_is_refused) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.receive(4, 1, Coordinator{})) == "REFUSAL to 4");
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(a_claim_that_its_claimant_has_given_up_is_refused) {
  NodeHarness node;
  node.follow(5, 4);
  node.receive(5, 4, Resign{}, 4);
  BOOST_TEST(sent(node.receive(5, 4, Coordinator{})) == "REFUSAL to 5");
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(a_refused_heartbeat_does_not_count_as_the_leaders) {
  NodeHarness node;
  node.follow(5, 4);
  for (int beat = 0; beat < 10; ++beat) {
    node.run_for(milliseconds(100));
    node.receive_beat(2, 3);
  }
  BOOST_TEST(node.role() != "follows 5 in 4");
}

// --- the end of a leadership that is followed ---

BOOST_AUTO_TEST_CASE(a_resignation_ends_it_at_once) {
  NodeHarness node({.self = 4});
  node.follow(5, 4);
  const Effects effects = node.receive(5, 4, Resign{}, 4);
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(node.node().timers().is_armed(Timer::kElect));
  BOOST_TEST(node.liveness_of(5) == "alive");
}

BOOST_AUTO_TEST_CASE(any_frame_that_releases_the_epoch_ends_it) {
  NodeHarness node;
  node.follow(5, 4);
  const Effects effects =
      node.receive(5, 4, ElectionFrame{.kind = ELECTION_MESSAGE_ANSWER, .flags = 3}, 4);
  BOOST_TEST(published(effects) == "no leader");
}

BOOST_AUTO_TEST_CASE(the_hello_of_a_new_life_of_the_leader_ends_it) {
  NodeHarness node;
  node.follow(5, 4);
  node.disconnect(5, LinkEvidence::kClosed);
  BOOST_TEST(node.role() == "follows 5 in 4");
  BOOST_TEST(published(node.connect(5, 4)) == "no leader");
}

BOOST_AUTO_TEST_CASE(a_new_life_that_has_forgotten_its_epoch_does_not_lead_either) {
  NodeHarness node;
  node.follow(5, 4);
  node.disconnect(5, LinkEvidence::kClosed);
  Hello forgetful = NodeHarness::hello_of(5);
  forgetful.self.boot = 2;
  BOOST_TEST(published(node.connect(forgetful)) == "no leader");
}

BOOST_AUTO_TEST_CASE(a_late_release_of_an_earlier_epoch_changes_nothing) {
  NodeHarness node;
  node.follow(5, 4);
  node.receive(5, 4, Resign{}, 3);
  BOOST_TEST(node.role() == "follows 5 in 4");
}

BOOST_AUTO_TEST_CASE(the_release_of_another_changes_nothing) {
  NodeHarness node;
  node.follow(5, 4);
  node.receive(2, 4, Resign{}, 4);
  BOOST_TEST(node.role() == "follows 5 in 4");
}

// --- hints ---

BOOST_AUTO_TEST_CASE(a_hint_in_an_answer_ends_a_needless_election) {
  NodeHarness node;
  node.join().step(Joined{});
  node.run_for(milliseconds(200));
  const Effects effects = node.receive_answer(5, true, hint(5, 0));
  BOOST_TEST(published(effects) == "");  // 0 is nobody's epoch
  ElectionFrame answer{.kind = ELECTION_MESSAGE_ANSWER, .flags = ELECTION_FLAG_ELECTABLE};
  answer.leader = hint(5, 3);
  BOOST_TEST(published(node.receive(5, 3, answer)) == "follows 5 in 3");
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_IDLE});
}

BOOST_AUTO_TEST_CASE(a_hint_of_an_older_epoch_is_ignored) {
  NodeHarness node;
  node.follow(5, 4);
  node.connect(1, 4, hint(2, 3));
  BOOST_TEST(node.role() == "follows 5 in 4");
}

BOOST_AUTO_TEST_CASE(a_hint_to_an_unknown_process_is_ignored) {
  NodeHarness node;
  node.follow(5, 4);
  node.connect(1, 5, hint(99, 5));
  BOOST_TEST(node.role() == "follows 5 in 4");
}

BOOST_AUTO_TEST_CASE(a_hint_to_a_leadership_that_was_released_is_ignored) {
  NodeHarness node;
  node.follow(5, 4);
  node.receive(5, 4, Resign{}, 4);
  node.connect(1, 4, hint(5, 4));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(a_hint_to_this_process_makes_it_no_leader) {
  NodeHarness node({.record = {.max_epoch = 4}});
  node.join().connect(1, 4, hint(3, 4));
  BOOST_TEST(node.role() == "joining");
}

BOOST_AUTO_TEST_CASE(a_late_question_of_a_called_election_that_is_over_calls_no_other) {
  NodeHarness node;
  node.lead();
  const ElectionFrame question{.kind = ELECTION_MESSAGE_ELECTION, .flags = ELECTION_FLAG_CALLED};
  BOOST_TEST(sent(node.receive(1, 0, question)) == "ANSWER to 1");
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_IDLE});
}

BOOST_AUTO_TEST_CASE(a_handover_of_an_election_that_is_over_is_ignored) {
  NodeHarness node({.self = 4, .options = {.variant = "modified"}});
  node.follow(5, 4);
  node.disconnect(5, LinkEvidence::kRefused);
  ElectionFrame handover{.kind = ELECTION_MESSAGE_HANDOVER, .round = 1};
  const Effects effects = node.receive(1, 3, handover);
  BOOST_TEST(reported<Stale>(effects) == "HANDOVER");
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(published(node.receive(1, 4, handover, 4)) == "leads in 5");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
