// A claim under guard "majority": who grants it, and what it waits for until it leads.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

// What a voter that has promised to support 4 says in its grant.
std::vector<Wait> wait_for_4(Duration left, uint64_t epoch = 1) {
  return {{.leader = uuid(4), .epoch = epoch, .left = left}};
}

bool is_flag_on(const Candidate& node) {
  return node.node().is_leading() && node.now() < node.node().valid_until();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_grants)

// --- the claim ---

BOOST_AUTO_TEST_CASE(with_the_grants_of_a_majority_it_leads_and_says_so_at_once) {
  Candidate node;
  node.claim();
  BOOST_TEST(everything(node.receive_grant(1)) == "");
  const Effects effects = node.receive_grant(2);
  BOOST_TEST(published(effects) == "leads in 1");
  BOOST_TEST(is_flag_on(node));
  const auto beat = find_sent<Heartbeat>(effects);
  BOOST_REQUIRE(beat.has_value());
  BOOST_TEST(beat->is_effective);
}

BOOST_AUTO_TEST_CASE(a_grant_counts_once) {
  Candidate node;
  node.claim();
  for (int i = 0; i < 3; ++i) node.receive_grant(1);
  BOOST_TEST(node.role() == "claims 1");
}

BOOST_AUTO_TEST_CASE(a_grant_of_one_without_a_vote_does_not_count) {
  GuardHarness node({.self = 3, .priority = 200}, 3);
  node.canvass();
  node.receive_opinion(1, true);
  node.disk_has_it();
  for (const uint32_t learner : {4u, 5u}) node.receive_grant(learner);
  BOOST_TEST(node.role() == "claims 1");
  BOOST_TEST(published(node.receive_grant(2)) == "leads in 1");
}

// They lie: the claim was sent to nobody, for those that are connected did not answer the election.
BOOST_AUTO_TEST_CASE(grants_that_nobody_was_asked_for_do_not_make_a_node_take_itself_for_wrong) {
  GuardHarness node;  // 3 of 1..5
  node.join();
  node.step(Joined{});
  while (!node.node().majority()->canvassing) node.run_for(milliseconds(10));
  for (const uint32_t silent : {4u, 5u}) node.receive_opinion(silent, true);
  BOOST_TEST(node.role() == "claims 1");
  for (const uint32_t gone : {1u, 2u}) node.disconnect(gone, LinkEvidence::kClosed);
  BOOST_TEST(sent(node.disk_has_it()) == "");
  for (const uint32_t liar : {4u, 5u}) node.receive_grant(liar);
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(a_grant_of_one_that_counts_other_voters_does_not_count) {
  Candidate node;
  node.claim();
  node.disconnect(1, LinkEvidence::kClosed);
  node.connect(NodeHarness::hello_of(1));  // guard "none"
  node.receive_grant(1);
  node.receive_grant(2);
  BOOST_TEST(node.role() == "claims 1");
}

BOOST_AUTO_TEST_CASE(a_grant_of_an_epoch_that_it_claims_no_longer_does_not_count) {
  Candidate node;
  node.claim();
  node.run_for(milliseconds(350));
  BOOST_REQUIRE(node.role() == "leaderless");
  node.step(Elect{});
  node.disk_has_it();
  BOOST_REQUIRE(node.role() == "claims 2");
  for (const uint32_t voter : {1u, 2u, 3u, 4u}) {
    node.receive(voter, 1, Grant{.epoch = 1, .is_granted = true, .sequence = 1}, 1);
  }
  BOOST_TEST(node.role() == "claims 2");
}

BOOST_AUTO_TEST_CASE(a_claim_is_repeated_by_beats_that_are_not_effective) {
  Candidate node;
  node.claim();
  const Effects effects = node.run_for(milliseconds(100));
  BOOST_TEST(sent(effects) == "HEARTBEAT to 1, HEARTBEAT to 2, HEARTBEAT to 3, HEARTBEAT to 4");
  BOOST_TEST(!find_sent<Heartbeat>(effects)->is_effective);
  BOOST_TEST((find_sent<Heartbeat>(effects)->terms.lease == seconds(1)));
}

BOOST_AUTO_TEST_CASE(a_majority_of_refusals_ends_the_claim_and_releases_its_epoch) {
  Candidate node;
  node.claim();
  node.receive_no(1, 1);
  node.receive_no(1, 1);
  node.receive_no(2, 1);
  BOOST_TEST(node.role() == "claims 1");
  const Effects effects = node.receive_no(3, 1);
  BOOST_TEST(sent(effects) == "RESIGN to 1, RESIGN to 2, RESIGN to 3, RESIGN to 4");
  BOOST_TEST(header_of_sent<Resign>(effects).released == 1u);
}

BOOST_AUTO_TEST_CASE(a_claim_without_a_majority_ends_and_the_next_takes_a_fresh_epoch) {
  Candidate node;
  node.claim();
  node.receive_grant(1);
  BOOST_TEST(find_sent<Resign>(node.run_for(milliseconds(350))).has_value());
  node.step(Elect{});
  BOOST_TEST(node.role() == "claims 2");
}

BOOST_AUTO_TEST_CASE(who_hears_a_claim_of_a_newer_epoch_votes_for_it_and_gives_its_own_up) {
  Candidate node;
  node.claim();
  node.receive_claim(4, 2);
  BOOST_TEST(sent(node.disk_has_it()) == "GRANT to 4");
  for (const uint32_t voter : {1u, 2u, 3u}) {
    node.receive(voter, 1, Grant{.epoch = 1, .is_granted = true, .sequence = 1}, 1);
  }
  BOOST_TEST(node.role() == "granted 4 in 2");
}

// --- what it waits for ---

BOOST_AUTO_TEST_CASE(it_leads_when_the_promises_of_its_voters_are_over) {
  Candidate node;
  node.claim();
  node.receive_grant(1, wait_for_4(milliseconds(300)));
  node.receive_grant(2);
  BOOST_TEST(node.role() == "claims 1");
  BOOST_TEST(published(node.run_for(milliseconds(299))) == "");
  BOOST_TEST(published(node.run_for(milliseconds(1))) == "leads in 1");
}

// Those that have promised nothing are enough.
BOOST_AUTO_TEST_CASE(it_waits_for_no_more_voters_than_it_needs) {
  Candidate node;
  node.claim();
  node.receive_grant(1, wait_for_4(milliseconds(700)));
  node.receive_grant(2);
  BOOST_TEST(published(node.receive_grant(3)) == "leads in 1");
}

BOOST_AUTO_TEST_CASE(the_word_of_the_old_leader_itself_ends_the_wait) {
  Candidate node;
  node.claim();
  for (const uint32_t voter : {1u, 2u}) node.receive_grant(voter, wait_for_4(seconds(1)));
  BOOST_TEST(published(node.receive(4, 1, Resign{}, 1)) == "leads in 1");
}

BOOST_AUTO_TEST_CASE(the_word_of_the_old_leader_counts_when_it_came_before_the_grant) {
  Candidate node;
  node.claim();
  node.receive(4, 1, Resign{}, 1);
  for (const uint32_t voter : {1u, 2u}) node.receive_grant(voter, wait_for_4(seconds(1)));
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(the_release_of_an_earlier_epoch_does_not_end_the_wait) {
  Candidate node({.record = {.max_epoch = 3}});
  node.claim();
  for (const uint32_t voter : {1u, 2u}) node.receive_grant(voter, wait_for_4(seconds(1), 3));
  BOOST_TEST(published(node.receive(4, 3, Resign{}, 2)) == "");
  BOOST_TEST(node.role() == "claims 4");
}

BOOST_AUTO_TEST_CASE(hearsay_of_the_old_leaders_end_does_not_end_the_wait) {
  Candidate node;
  node.claim();
  for (const uint32_t voter : {1u, 2u}) node.receive_grant(voter, wait_for_4(seconds(1)));
  BOOST_TEST(published(node.receive(3, 1, Resign{}, 1)) == "");
  BOOST_TEST(node.role() == "claims 1");
}

BOOST_AUTO_TEST_CASE(a_voter_that_was_restarted_is_waited_for_and_no_release_ends_that) {
  Candidate node;
  node.claim();
  node.receive_grant(1, {}, milliseconds(300));
  node.receive_grant(2);
  node.receive(4, 1, Resign{}, 1);
  BOOST_TEST(published(node.run_for(milliseconds(299))) == "");
  BOOST_TEST(published(node.run_for(milliseconds(1))) == "leads in 1");
}

BOOST_AUTO_TEST_CASE(its_own_promises_stand_against_it_too) {
  Candidate node;
  node.join();
  node.receive(4, 1, Coordinator{.sequence = 1, .terms = node.terms()});
  node.disk_has_it();
  node.receive_beat(4, 1);
  node.run_for(milliseconds(200));
  node.disconnect(4, LinkEvidence::kRefused);
  node.run_for(Duration::zero());
  for (const uint32_t voter : {1u, 2u}) node.receive_opinion(voter, true, 1);
  node.disk_has_it();
  for (const uint32_t voter : {1u, 2u, 3u}) node.receive_grant(voter);
  BOOST_TEST(node.role() == "claims 2");
  Effects all = node.run_for(milliseconds(500));
  for (const uint32_t voter : {1u, 2u, 3u}) node.receive_promise(voter);
  BOOST_TEST(published(all) == "");
  BOOST_TEST(published(node.run_for(milliseconds(299))) == "");
  BOOST_TEST(published(node.run_for(milliseconds(1))) == "leads in 2");
}

// Its own grant would have to wait as well; so another one can lead sooner.
BOOST_AUTO_TEST_CASE(who_was_restarted_lets_others_lead_until_its_earlier_promises_are_over) {
  Candidate node({.record = {.max_epoch = 1, .lease_seen = milliseconds(700)}});
  node.join();
  node.run_for(milliseconds(699));
  BOOST_TEST(!node.node().may_lead());
  node.run_for(milliseconds(1));
  BOOST_TEST(node.node().may_lead());
}

BOOST_AUTO_TEST_CASE(a_claim_whose_voters_fall_silent_while_it_waits_is_given_up) {
  Candidate node;
  node.claim();
  for (const uint32_t voter : {1u, 2u}) node.receive_grant(voter, wait_for_4(seconds(2)));
  const Effects effects = node.run_for(milliseconds(800));
  BOOST_TEST(find_sent<Resign>(effects).has_value());
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
