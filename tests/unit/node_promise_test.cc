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

// --- what is remembered of earlier lives ---

namespace {

const Record kLongAgo{.max_epoch = 1, .granted_to = uuid(5), .lease_seen = seconds(10)};
const Record kShorter{.max_epoch = 1, .granted_to = uuid(5), .lease_seen = seconds(1)};

// Its earlier life may have promised for ten seconds, and voted for the one that leads.
struct Restarted : GuardHarness {
  explicit Restarted(const Record& record = kLongAgo) : GuardHarness({.record = record}) { join(); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(when_what_earlier_lives_promised_is_over_their_leases_are_forgotten) {
  Restarted node;
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
  node.pass(seconds(10));
  const Effects effects = node.receive_beat(5, 1);
  BOOST_TEST((find_stored(effects) == kShorter));
  BOOST_TEST(promised(effects) == 1u);
  BOOST_TEST((node.node().record() == kShorter));
}

BOOST_AUTO_TEST_CASE(it_is_written_once_and_nothing_waits_for_it) {
  Restarted node;
  node.pass(seconds(10));
  node.receive_beat(5, 1);
  const Effects meanwhile = node.receive_beat(5, 1);
  BOOST_TEST(!find_stored(meanwhile).has_value());
  BOOST_TEST(promised(meanwhile) == 1u);
  BOOST_TEST(everything(node.disk_has_it()) == "");
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
}

BOOST_AUTO_TEST_CASE(they_are_not_forgotten_before_that) {
  Restarted node;
  node.pass(milliseconds(9999));
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
}

BOOST_AUTO_TEST_CASE(nothing_is_written_where_the_lease_is_the_same) {
  Restarted node(kShorter);
  node.pass(seconds(1));
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
}

// Its leader's lease may be longer than any that this life knows of.
BOOST_AUTO_TEST_CASE(they_are_not_forgotten_before_the_terms_of_the_vote_are_known) {
  Restarted node;
  node.run_for(seconds(11));
  BOOST_TEST((node.node().record() == kLongAgo));
  const Effects effects = node.receive_beat(5, 1, seconds(2));
  BOOST_TEST(promised(effects) == 1u);
  BOOST_TEST((find_stored(effects)->lease_seen == seconds(2)));
}

BOOST_AUTO_TEST_CASE(a_vote_during_the_wait_remembers_what_may_still_run) {
  Restarted node({.lease_seen = seconds(10)});
  BOOST_TEST((find_stored(node.receive_claim(5, 1)) == kLongAgo));
  node.disk_has_it();
  node.pass(seconds(10));
  BOOST_TEST((find_stored(node.receive_beat(5, 1)) == kShorter));
}

BOOST_AUTO_TEST_CASE(what_this_life_has_promised_is_remembered) {
  Restarted node({.lease_seen = seconds(10)});
  node.receive(4, 1, Coordinator{.terms = node.terms(seconds(3))});
  node.disk_has_it();
  node.receive(5, 2, Coordinator{.is_planned = true, .terms = node.terms()});
  node.disk_has_it();
  node.pass(seconds(10));
  BOOST_TEST((find_stored(node.receive_beat(5, 2)) == Record{2, uuid(5), seconds(3)}));
}

BOOST_AUTO_TEST_CASE(a_vote_that_is_on_its_way_to_the_disk_is_waited_for) {
  Restarted node({.lease_seen = seconds(10)});
  node.receive_claim(5, 1);
  node.pass(seconds(10));
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
  const Effects effects = node.disk_has_it();
  BOOST_TEST(is_granted(effects));
  BOOST_TEST((find_stored(effects) == kShorter));
}

// Nonsense, but a peer may say it: the record becomes what the disk had, before the disk has what
// is between the two.
BOOST_AUTO_TEST_CASE(a_longer_lease_while_the_shorter_is_written_waits_for_its_own_write) {
  Restarted node;
  node.pass(seconds(10));
  node.receive_early_beat(5, 1);
  const Effects claimed =
      node.receive(5, 1, Coordinator{.sequence = 9, .terms = node.terms(seconds(10))});
  BOOST_TEST((find_stored(claimed) == kLongAgo));
  BOOST_TEST(sent(claimed) == "");
  BOOST_TEST(promised(node.receive_early_beat(5, 1, seconds(10))) == 0u);
  BOOST_TEST(sent(node.step(Persisted{kShorter})) == "");
  BOOST_TEST(is_granted(node.disk_has_it()));
  BOOST_TEST(promised(node.receive_early_beat(5, 1, seconds(10))) == 1u);
}

BOOST_AUTO_TEST_CASE(a_voter_that_cannot_store_forgets_nothing) {
  Restarted node;
  node.receive_beat(5, 1);
  node.disk_fails();
  node.pass(seconds(10));
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
  BOOST_TEST((find_stored(node.disk_has_it()) == kShorter));
}

BOOST_AUTO_TEST_CASE(a_voter_that_has_lost_its_vote_forgets_no_lease) {
  GuardHarness node({.record = kLongAgo, .start = {.is_state_lost = true}});
  node.join();
  node.pass(seconds(10));
  BOOST_TEST(!find_stored(node.receive_beat(5, 1)).has_value());
}

BOOST_AUTO_TEST_CASE(a_claimant_remembers_its_own_lease) {
  Candidate node({.record = {.lease_seen = seconds(10)}, .options = {.lease = seconds(2)}});
  node.join();
  node.step(Joined{});
  node.run_for(seconds(10));
  node.receive_opinion(1, true);
  node.receive_opinion(2, true);
  BOOST_TEST((node.node().record() == Record{1, uuid(5), seconds(10)}));
  BOOST_TEST((find_stored(node.disk_has_it()) == Record{1, uuid(5), seconds(2)}));
}

// It need not wait for others, and claims before the wait is over.
BOOST_AUTO_TEST_CASE(the_only_voter_forgets_them_while_it_leads) {
  GuardHarness node({.self = 1, .record = {.max_epoch = 4, .lease_seen = seconds(10)}}, 1);
  node.join();
  node.step(Joined{});
  node.run_for(seconds(1));
  BOOST_TEST(node.role() == "claims 5");
  node.disk_has_it();
  node.run_for(milliseconds(8999));
  BOOST_TEST((node.node().record() == Record{5, uuid(1), seconds(10)}));
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "leads in 5");
  BOOST_TEST((node.node().record() == Record{5, uuid(1), seconds(1)}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
