// A candidate under guard "majority": whether it may lead, canvass and own vote, until it claims.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_candidate)

// --- the canvass ---

BOOST_AUTO_TEST_CASE(who_wins_an_election_asks_first_and_claims_nothing) {
  Candidate node;
  node.join();
  node.step(Joined{});
  const Effects effects = node.run_for(Duration::zero());
  BOOST_TEST(everything(effects) == "CANVASS to 1, CANVASS to 2, CANVASS to 3, CANVASS to 4");
  BOOST_TEST(node.max_epoch() == 0u);
}

BOOST_AUTO_TEST_CASE(a_canvass_without_a_majority_burns_no_epoch_and_is_tried_again) {
  Candidate node;
  node.canvass();
  for (const uint32_t voter : {1u, 2u, 3u}) node.receive_opinion(voter, false);
  BOOST_TEST(node.max_epoch() == 0u);
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(find_sent<Canvass>(node.run_for(seconds(5))).has_value());
  BOOST_TEST(node.max_epoch() == 0u);
}

BOOST_AUTO_TEST_CASE(a_canvass_that_nobody_answers_comes_to_an_end) {
  Candidate node;
  node.canvass();
  const Effects effects = node.run_for(milliseconds(100));
  BOOST_TEST(reported<TimedOut>(effects) == "canvass");
  BOOST_TEST(node.max_epoch() == 0u);
}

BOOST_AUTO_TEST_CASE(two_of_five_that_say_yes_are_a_majority_with_the_candidate) {
  Candidate node;
  node.canvass();
  BOOST_TEST(everything(node.receive_opinion(1, true)) == "");
  BOOST_TEST(everything(node.receive_opinion(1, true)) == "");
  BOOST_TEST(everything(node.receive_opinion(2, true)) == "no leader, store 1");
  BOOST_TEST(node.role() == "claims 1");
}

// What an operator wants needs nobody's opinion; the votes it needs all the same.
BOOST_AUTO_TEST_CASE(an_election_that_an_operator_calls_is_claimed_without_a_canvass) {
  Candidate node;
  node.join();
  const Effects effects = node.step(Elect{});
  BOOST_TEST(!find_sent<Canvass>(effects).has_value());
  BOOST_TEST(find_stored(effects).has_value());
  BOOST_TEST(node.role() == "claims 1");
}

BOOST_AUTO_TEST_CASE(an_opinion_on_an_earlier_canvass_does_not_count) {
  Candidate node;
  node.canvass();
  const uint64_t earlier = node.node().majority()->number - 1;
  for (const uint32_t voter : {1u, 2u, 3u}) {
    node.receive(voter, 0, CanvassReply{.number = earlier, .is_yes = true});
  }
  BOOST_TEST(node.max_epoch() == 0u);
}

BOOST_AUTO_TEST_CASE(an_opinion_of_one_without_a_vote_does_not_count) {
  GuardHarness node({.self = 3, .priority = 200}, 3);  // 4 and 5 have no vote
  node.canvass();
  for (const uint32_t learner : {4u, 5u}) node.receive_opinion(learner, true);
  BOOST_TEST(node.max_epoch() == 0u);
  node.receive_opinion(1, true);
  BOOST_TEST(node.role() == "claims 1");
}

// --- its own vote ---

BOOST_AUTO_TEST_CASE(a_claim_takes_one_more_than_the_highest_epoch_that_was_heard) {
  Candidate node({.record = {.max_epoch = 3}});
  node.canvass();
  node.receive_opinion(1, true, 8);
  BOOST_TEST(everything(node.receive_opinion(2, true, 5)) == "no leader, store 9");
}

BOOST_AUTO_TEST_CASE(the_first_claim_of_a_group_begins_above_the_seed) {
  Candidate node({.options = {.epoch_seed = 1000}});
  node.vote_for_self();
  BOOST_TEST(node.role() == "claims 1001");
}

BOOST_AUTO_TEST_CASE(nothing_of_the_claim_leaves_before_its_own_vote_is_stored) {
  Candidate node;
  node.canvass();
  node.receive_opinion(1, true);
  const Effects effects = node.receive_opinion(2, true);
  BOOST_REQUIRE(find_stored(effects).has_value());
  BOOST_TEST((*find_stored(effects) == Record{1, uuid(5), seconds(1)}));
  BOOST_TEST(sent(effects) == "");
  BOOST_TEST(node.node().hello().header.epoch == 0u);
  BOOST_TEST(sent(node.disk_has_it()) ==
             "COORDINATOR to 1, COORDINATOR to 2, COORDINATOR to 3, COORDINATOR to 4");
}

BOOST_AUTO_TEST_CASE(a_claim_says_what_it_asks_for_and_releases_what_was_before) {
  Candidate node({.record = {.max_epoch = 6}, .options = {.lease = seconds(3)}});
  node.vote_for_self();
  const Effects effects = node.disk_has_it();
  const auto coordinator = find_sent<Coordinator>(effects);
  BOOST_REQUIRE(coordinator.has_value());
  BOOST_TEST(coordinator->terms.voters == node.terms().voters);
  BOOST_TEST((coordinator->terms.lease == seconds(3)));
  BOOST_TEST(header_of_sent<Coordinator>(effects).epoch == 7u);
  BOOST_TEST(header_of_sent<Coordinator>(effects).released == 6u);
}

BOOST_AUTO_TEST_CASE(who_cannot_store_its_own_vote_does_not_claim_and_may_not_lead) {
  Candidate node;
  node.vote_for_self();
  BOOST_TEST(sent(node.disk_fails()) == "");
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(!node.node().may_lead());
}

// Another attempt would need another write.  Meanwhile others need not wait for it.
BOOST_AUTO_TEST_CASE(a_vote_that_is_stored_late_is_claimed_with_and_others_may_lead_before) {
  Candidate node;
  node.vote_for_self();
  BOOST_TEST(!find_sent<CanvassReply>(node.receive_canvass(4))->is_yes);
  node.run_for(milliseconds(600));
  BOOST_TEST(node.node().may_lead());
  const Effects late = node.run_for(milliseconds(500));
  BOOST_TEST(reported<Remark>(late) == "its disk does not answer");
  BOOST_TEST((node.node().vote(node.now()) == Vote::kBroken));
  BOOST_TEST(node.role() == "claims 1");
  BOOST_TEST(sent(node.disk_has_it()).starts_with("COORDINATOR to 1"));
  BOOST_TEST(node.node().may_lead());
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
}

// Their disks may be slower than the timers.
BOOST_AUTO_TEST_CASE(each_claim_in_vain_is_followed_by_one_that_waits_longer) {
  Candidate node;
  node.claim();
  for (const int patience_ms : {350, 700, 1400}) {
    node.run_for(milliseconds(patience_ms - 10));
    BOOST_TEST(node.role().starts_with("claims"));
    node.run_for(milliseconds(20));
    BOOST_REQUIRE(node.role() == "leaderless");
    node.step(Elect{});
    for (const uint32_t voter : {1u, 2u}) node.receive_opinion(voter, true);
    node.disk_has_it();
  }
}

BOOST_AUTO_TEST_CASE(who_votes_for_another_meanwhile_does_not_claim) {
  Candidate node;
  node.vote_for_self();
  const Record own = node.node().record();
  node.receive_claim(4, 2);
  BOOST_TEST(sent(node.step(Persisted{own})) == "");
  BOOST_TEST(node.role() == "granted 4 in 2");
  BOOST_TEST(sent(node.disk_has_it()) == "GRANT to 4");
}

// --- who may lead ---

BOOST_AUTO_TEST_CASE(who_reaches_no_majority_of_voters_says_that_it_cannot_lead) {
  Candidate node;
  node.join();
  BOOST_TEST(node.node().may_lead());
  for (const uint32_t voter : {1u, 2u}) node.disconnect(voter, LinkEvidence::kClosed);
  BOOST_TEST(node.node().may_lead());
  node.disconnect(3, LinkEvidence::kClosed);
  BOOST_TEST(!node.node().may_lead());
  const auto answer = find_sent<ElectionFrame>(
      node.receive(4, 0, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 1}, 0));
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST((answer->flags & ELECTION_FLAG_ELECTABLE) == 0u);
}

BOOST_AUTO_TEST_CASE(learners_do_not_make_a_majority) {
  NodeHarness node({.self = 3, .options = guarded({}, 3)});
  node.join();
  for (const uint32_t voter : {1u, 2u}) node.disconnect(voter, LinkEvidence::kClosed);
  BOOST_TEST(!node.node().may_lead());
}

BOOST_AUTO_TEST_CASE(a_learner_never_holds_an_election) {
  NodeHarness node({.self = 5, .priority = 65535, .options = guarded({}, 3)});
  node.join();
  node.step(Joined{});
  BOOST_TEST(sent(node.run_for(seconds(10))) == "");
  BOOST_TEST(!node.node().may_lead());
}

BOOST_AUTO_TEST_CASE(who_led_before_its_restart_claims_a_fresh_epoch) {
  Candidate node({.record = {.max_epoch = 4, .granted_to = uuid(5)}});
  BOOST_TEST(node.node().hello().header.released == 4u);
  node.vote_for_self();
  BOOST_TEST(node.role() == "claims 5");
}

BOOST_AUTO_TEST_CASE(a_single_voter_leads_when_its_vote_is_stored) {
  GuardHarness node({.self = 1, .priority = 200}, 1);
  node.canvass();
  BOOST_TEST(node.role() == "claims 1");
  BOOST_TEST(published(node.disk_has_it()) == "leads in 1");
  node.run_for(seconds(60));
  BOOST_TEST(node.role() == "leads in 1");
}

// --- the take-over ---

BOOST_AUTO_TEST_CASE(a_take_over_waits_for_steady_contact_with_a_majority) {
  Candidate node({.options = {.preempt_delay = seconds(3)}});
  node.follow(4, 1);
  BOOST_TEST((node.wait_of(Timer::kPreempt) == seconds(3)));
  for (const uint32_t voter : {1u, 2u}) node.disconnect(voter, LinkEvidence::kTimeout);
  BOOST_TEST((node.wait_of(Timer::kPreempt) == seconds(3)));
  node.disconnect(3, LinkEvidence::kTimeout);
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
  node.connect(3, 1);
  BOOST_TEST((node.wait_of(Timer::kPreempt) == seconds(3)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
