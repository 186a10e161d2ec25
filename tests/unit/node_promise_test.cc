// What a voter promises under guard "majority", and what its promises mean for the next claim.  The
// node is 3 of 1..5; it has promised to 5, and 4 claims.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

// 0: none.
uint64_t promised(const Effects& effects) {
  const auto ack = find_sent<HeartbeatAck>(effects);
  BOOST_REQUIRE(ack.has_value());
  return ack->promised_epoch;
}

// The grant that a claim of 4 in epoch 2 gets, stored at once.
Grant grant_for_4(GuardHarness& node) {
  node.receive_claim(4, 2);
  const auto grant = find_sent<Grant>(node.disk_has_it());
  BOOST_REQUIRE(grant.has_value());
  return *grant;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_promise)

// --- what else stands against the claim ---

BOOST_AUTO_TEST_CASE(a_grant_names_the_promises_to_other_leaders_and_how_long_they_run) {
  GuardHarness node;
  node.follow(5, 1);
  node.run_for(milliseconds(600));
  const Grant grant = grant_for_4(node);
  BOOST_TEST(grant.is_granted);
  BOOST_REQUIRE(grant.waits.size() == 1u);
  BOOST_TEST(number_of(grant.waits[0].leader) == 5u);
  BOOST_TEST(grant.waits[0].epoch == 1u);
  BOOST_TEST((grant.waits[0].left == milliseconds(400)));
}

BOOST_AUTO_TEST_CASE(a_promise_that_is_over_stands_against_nobody) {
  GuardHarness node;
  node.follow(5, 1);
  node.run_for(milliseconds(1000));
  BOOST_TEST(grant_for_4(node).waits.empty());
}

BOOST_AUTO_TEST_CASE(a_promise_to_who_claims_anew_does_not_stand_against_it) {
  GuardHarness node;
  node.follow(5, 1);
  node.receive_claim(5, 2);
  BOOST_TEST(find_sent<Grant>(node.disk_has_it())->waits.empty());
}

BOOST_AUTO_TEST_CASE(a_promise_to_who_has_released_its_epoch_stands_against_nobody) {
  GuardHarness node;
  node.follow(5, 1);
  node.receive(5, 1, Resign{}, 1);
  BOOST_TEST(grant_for_4(node).waits.empty());
}

// It is news, though: the claim was heard without it.
BOOST_AUTO_TEST_CASE(a_release_of_an_earlier_epoch_frees_from_nothing) {
  GuardHarness node;
  node.join();
  node.receive(5, 3, Coordinator{.sequence = 1, .terms = node.terms()}, 1);
  node.disk_has_it();
  node.receive(5, 3, Heartbeat{.sequence = 2, .terms = node.terms()}, 1);
  node.receive(5, 3, Resign{}, 2);
  node.receive(4, 4, Coordinator{.is_planned = true, .terms = node.terms()});
  BOOST_TEST(find_sent<Grant>(node.disk_has_it())->waits.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_new_life_of_the_leader_frees_from_the_promise_to_the_old_one) {
  GuardHarness node;
  node.follow(5, 1);
  node.disconnect(5, LinkEvidence::kClosed);
  Hello hello = NodeHarness::hello_of(5, 1);
  hello.self.boot = 2;
  hello.voters = node.terms().voters;
  node.connect(hello);
  BOOST_TEST(grant_for_4(node).waits.empty());
}

BOOST_AUTO_TEST_CASE(silence_a_closed_connection_and_a_refusal_are_no_proof_of_the_leaders_end) {
  for (const LinkEvidence evidence :
       {LinkEvidence::kClosed, LinkEvidence::kTimeout, LinkEvidence::kRefused}) {
    GuardHarness node;
    node.follow(5, 1);
    node.run_for(milliseconds(600));
    node.disconnect(5, evidence);
    BOOST_TEST(grant_for_4(node).waits.size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_proof_of_the_leaders_end_frees_from_the_promise) {
  GuardHarness node;
  node.follow(5, 1);
  node.step(LinkDown{uuid(5), LinkEvidence::kRefused, /*is_proof=*/true});
  BOOST_TEST(grant_for_4(node).waits.empty());
}

BOOST_AUTO_TEST_CASE(a_proof_of_anothers_end_frees_from_nothing) {
  GuardHarness node;
  node.follow(5, 1);
  node.step(LinkDown{uuid(2), LinkEvidence::kRefused, /*is_proof=*/true});
  node.run_for(milliseconds(600));
  BOOST_TEST(grant_for_4(node).waits.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_grant_is_repeated_unasked_when_nothing_stands_against_it_any_more) {
  GuardHarness node;
  node.follow(5, 1);
  node.run_for(milliseconds(600));
  BOOST_TEST(grant_for_4(node).waits.size() == 1u);
  const Effects effects = node.receive(5, 1, Resign{}, 1);
  BOOST_REQUIRE(find_sent<Grant>(effects).has_value());
  BOOST_TEST(find_sent<Grant>(effects)->waits.empty());
}

BOOST_AUTO_TEST_CASE(after_a_restart_a_grant_tells_how_long_an_earlier_promise_may_run) {
  GuardHarness node({.record = {.max_epoch = 1, .granted_to = uuid(5), .lease_seen = seconds(3)}});
  node.join();
  node.run_for(milliseconds(400));
  BOOST_TEST((grant_for_4(node).boot_wait == milliseconds(2600)));
}

BOOST_AUTO_TEST_CASE(when_every_earlier_promise_is_over_the_restart_costs_nothing) {
  GuardHarness node({.record = {.max_epoch = 1, .granted_to = uuid(5), .lease_seen = seconds(3)}});
  node.join();
  node.run_for(seconds(3));
  BOOST_TEST((grant_for_4(node).boot_wait == Duration::zero()));
}

// --- the promise ---

BOOST_AUTO_TEST_CASE(a_voter_promises_its_support_to_whom_it_has_granted) {
  GuardHarness node;
  node.grant(5, 1);
  const Effects effects = node.receive_early_beat(5, 1);
  BOOST_TEST(promised(effects) == 1u);
  BOOST_TEST(!find_sent<HeartbeatAck>(effects)->refusal.has_value());
}

BOOST_AUTO_TEST_CASE(nothing_is_promised_before_the_vote_is_stored) {
  GuardHarness node;
  node.join();
  node.receive_claim(5, 1);
  BOOST_TEST(promised(node.receive_beat(5, 1)) == 0u);
  node.disk_has_it();
  BOOST_TEST(promised(node.receive_beat(5, 1)) == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_is_promised_to_whom_it_has_not_granted) {
  GuardHarness node;
  node.grant(4, 1);
  BOOST_TEST(promised(node.receive_beat(5, 1)) == 0u);
}

BOOST_AUTO_TEST_CASE(a_learner_promises_nothing) {
  GuardHarness node({}, 2);
  node.join();
  BOOST_TEST(promised(node.receive_beat(2, 1)) == 0u);
  BOOST_TEST(node.role() == "follows 2 in 1");
}

BOOST_AUTO_TEST_CASE(a_beat_of_a_new_epoch_is_a_claim) {
  GuardHarness node;
  node.join();
  const Effects effects = node.receive_early_beat(5, 1);
  BOOST_TEST(find_stored(effects).has_value());
  BOOST_TEST(promised(effects) == 0u);
  BOOST_TEST(sent(node.disk_has_it()) == "GRANT to 5");
  BOOST_TEST(promised(node.receive_early_beat(5, 1)) == 1u);
}

BOOST_AUTO_TEST_CASE(a_beat_of_an_older_epoch_is_refused_and_told_of_the_newer) {
  GuardHarness node;
  node.grant(4, 3);
  const Effects effects = node.receive_beat(5, 2);
  BOOST_TEST(promised(effects) == 0u);
  BOOST_REQUIRE(find_sent<HeartbeatAck>(effects)->refusal.has_value());
  BOOST_TEST(header_of_sent<HeartbeatAck>(effects).epoch == 3u);
}

// From 600 ms on; the lease of this node itself is another.
BOOST_AUTO_TEST_CASE(a_promise_counts_from_the_receipt_and_for_the_lease_of_the_frame) {
  GuardHarness node({.options = {.lease = seconds(9)}});
  node.join();
  node.receive(5, 1, Coordinator{.sequence = 1, .terms = node.terms(seconds(2))});
  node.disk_has_it();
  node.run_for(milliseconds(600));
  node.receive_beat(5, 1, seconds(2));
  node.run_for(milliseconds(500));
  const Grant grant = grant_for_4(node);
  BOOST_REQUIRE(grant.waits.size() == 1u);
  BOOST_TEST((grant.waits[0].left == milliseconds(1500)));
}

BOOST_AUTO_TEST_CASE(a_lease_does_not_change_within_an_epoch) {
  GuardHarness node;
  node.follow(5, 1);
  BOOST_TEST(promised(node.receive_beat(5, 1, seconds(9))) == 0u);
  BOOST_TEST(promised(node.receive_beat(5, 1, milliseconds(400))) == 0u);
  BOOST_TEST(promised(node.receive_beat(5, 1)) == 1u);
}

// The wait of its next life is for the stored lease.
BOOST_AUTO_TEST_CASE(after_a_restart_it_promises_no_longer_than_it_has_stored) {
  const Record record{.max_epoch = 1, .granted_to = uuid(5), .lease_seen = seconds(1)};
  GuardHarness longer({.record = record});
  longer.join();
  BOOST_TEST(promised(longer.receive_beat(5, 1, seconds(2))) == 0u);
  GuardHarness same({.record = record});
  same.join();
  BOOST_TEST(promised(same.receive_beat(5, 1, seconds(1))) == 1u);
}

BOOST_AUTO_TEST_CASE(a_grant_is_the_first_promise) {
  GuardHarness node;
  node.join();
  node.receive(5, 1, Coordinator{.sequence = 1, .terms = node.terms()});
  const auto grant = find_sent<Grant>(node.disk_has_it());
  BOOST_REQUIRE(grant.has_value());
  BOOST_TEST(grant->sequence == 1u);
  node.run_for(milliseconds(700));
  BOOST_TEST(grant_for_4(node).waits.size() == 1u);
}

BOOST_AUTO_TEST_CASE(after_a_failed_write_it_promises_nothing) {
  GuardHarness node;
  node.follow(5, 1);
  node.receive(5, 2, Coordinator{.terms = node.terms()});
  node.disk_fails();
  BOOST_TEST(promised(node.receive_beat(5, 2)) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
