// What a leader does when it hears of another claim: a newer epoch makes it yield, or, when nobody
// stands behind that epoch, claim anew above it; of equal epochs the higher rank claims anew and
// the lower one yields.  Guard "none" cannot exclude that leaders meet.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_rivals)

namespace {

LeaderHint hint(uint32_t leader, uint64_t epoch) { return {.id = uuid(leader), .epoch = epoch}; }

}  // namespace
// --- newer epochs ---

BOOST_AUTO_TEST_CASE(a_leader_follows_a_claim_of_a_newer_epoch) {
  NodeHarness node;
  node.lead();
  BOOST_TEST(everything(node.receive(5, 2, Coordinator{})) == "follows 5 in 2, store 2");
}

BOOST_AUTO_TEST_CASE(the_flag_is_off_before_the_ack_of_a_rivals_heartbeat) {
  NodeHarness node;
  node.lead();
  const Effects effects = node.receive_beat(5, 2);
  BOOST_TEST(everything(effects) == "follows 5 in 2, store 2, HEARTBEAT_ACK to 5");
  BOOST_TEST(header_of_sent<HeartbeatAck>(effects).released == 2u);
}

BOOST_AUTO_TEST_CASE(a_leader_yields_to_the_leader_that_a_newer_epoch_names) {
  NodeHarness node;
  node.lead();
  node.disconnect(5, LinkEvidence::kTimeout);
  const Effects effects = node.connect(1, 2, hint(5, 2));
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(node.max_epoch() == 2u);
  BOOST_TEST(node.node().timers().is_armed(Timer::kElect));  // but not for ever
}

BOOST_AUTO_TEST_CASE(a_leader_follows_the_leader_of_a_newer_epoch_when_it_hears_it) {
  NodeHarness node;
  node.lead().connect(1, 2, hint(5, 2));
  BOOST_TEST(node.role() == "follows 5 in 2");
}

BOOST_AUTO_TEST_CASE(a_leader_claims_above_a_newer_epoch_behind_which_nobody_stands) {
  NodeHarness node;
  const Effects effects = node.lead().connect(1, 6);
  BOOST_TEST(published(effects) == "leads in 7");
  BOOST_TEST(header_of_sent<Coordinator>(effects).epoch == 7u);
  BOOST_TEST(header_of_sent<Coordinator>(effects).released == 6u);
}

BOOST_AUTO_TEST_CASE(a_leader_claims_above_a_newer_epoch_of_an_earlier_life_of_its_own) {
  NodeHarness node;
  node.lead().connect(1, 6, hint(3, 6));
  BOOST_TEST(node.role() == "leads in 7");
}

BOOST_AUTO_TEST_CASE(a_newer_epoch_in_an_election_message_makes_a_leader_claim_anew) {
  NodeHarness node;
  node.lead();
  const Effects effects = node.receive(1, 6, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION});
  BOOST_TEST(published(effects) == "leads in 7");
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_only_remembers_a_newer_epoch) {
  NodeHarness node;
  node.follow(5, 1);
  node.connect(1, 6);
  BOOST_TEST(node.role() == "follows 5 in 1");
  BOOST_TEST(node.max_epoch() == 6u);
}

// --- refusals ---

BOOST_AUTO_TEST_CASE(a_refusal_without_a_leader_makes_the_leader_claim_anew) {
  NodeHarness node;
  const Effects effects = node.lead().receive(1, 1, Refusal{.refused_epoch = 1}, 1);
  BOOST_TEST(published(effects) == "leads in 2");
  BOOST_TEST(sent(effects) ==
             "COORDINATOR to 1, COORDINATOR to 2, COORDINATOR to 4, COORDINATOR to 5");
}

// The same epoch again would be refused again, without end.
BOOST_AUTO_TEST_CASE(it_does_so_though_that_cuts_off_what_its_application_has_begun) {
  Options options;
  options.drain_timeout = seconds(10);
  NodeHarness node({.options = options});
  node.lead().step(Application{.is_attached = true});
  BOOST_TEST(published(node.receive(1, 1, Refusal{.refused_epoch = 1}, 1)) == "leads in 2");
}

BOOST_AUTO_TEST_CASE(a_refusal_in_an_ack_counts_as_well) {
  NodeHarness node;
  const Refusal refusal{.refused_epoch = 1};
  const Effects effects =
      node.lead().receive(1, 6, HeartbeatAck{.is_electable = true, .refusal = refusal}, 6);
  BOOST_TEST(published(effects) == "leads in 7");
}

BOOST_AUTO_TEST_CASE(a_late_refusal_of_an_earlier_claim_changes_nothing) {
  NodeHarness node({.record = {.max_epoch = 4}});
  BOOST_TEST(published(node.lead().receive(1, 5, Refusal{.refused_epoch = 4}, 5)) == "");
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(a_refusal_for_a_newer_leader_makes_the_leader_yield) {
  NodeHarness node;
  node.lead().receive(1, 2, Refusal{.refused_epoch = 1, .leader = hint(5, 2)}, 2);
  BOOST_TEST(node.role() == "follows 5 in 2");
}

// --- equal epochs ---

BOOST_AUTO_TEST_CASE(of_two_leaders_of_one_epoch_the_higher_rank_claims_anew) {
  NodeHarness node;
  const Effects effects = node.lead().receive_beat(2, 1);
  BOOST_TEST(published(effects) == "leads in 2");
  BOOST_TEST(find_sent<HeartbeatAck>(effects)->refusal.has_value());
}

BOOST_AUTO_TEST_CASE(of_two_leaders_of_one_epoch_the_lower_rank_follows) {
  NodeHarness node;
  BOOST_TEST(published(node.lead().receive_beat(5, 1)) == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(of_two_leaders_of_one_epoch_the_lower_rank_follows_by_hearsay) {
  NodeHarness node;
  node.lead().connect(1, 1, hint(5, 1));
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(the_lower_rank_yields_even_if_it_cannot_hear_the_higher_one) {
  NodeHarness node;
  node.lead().disconnect(5, LinkEvidence::kTimeout);
  BOOST_TEST(published(node.connect(1, 1, hint(5, 1))) == "no leader");
}

BOOST_AUTO_TEST_CASE(the_higher_rank_claims_anew_when_it_hears_of_the_other_by_hearsay) {
  NodeHarness node;
  node.lead().connect(1, 1, hint(2, 1));
  BOOST_TEST(node.role() == "leads in 2");
}

BOOST_AUTO_TEST_CASE(a_rival_of_an_older_epoch_is_refused_and_nothing_else) {
  NodeHarness node({.record = {.max_epoch = 4}});
  BOOST_TEST(everything(node.lead().receive(5, 4, Coordinator{})) == "REFUSAL to 5");
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(a_leader_claims_above_a_claim_that_was_taken_back) {
  NodeHarness node;
  node.lead().receive(5, 7, Heartbeat{.sequence = 1}, 7);
  BOOST_TEST(node.role() == "leads in 8");
}

BOOST_AUTO_TEST_CASE(a_claim_of_the_same_epoch_that_was_taken_back_changes_nothing) {
  NodeHarness node;
  node.lead().receive(5, 1, Heartbeat{.sequence = 1}, 1);
  BOOST_TEST(node.role() == "leads in 1");
}

// --- the rules are what does it: each broken once, on purpose ---

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
