// A voter under guard "majority": whom it would grant, and whom it grants.  The node is 3 of 1..5.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_voter)

namespace {

bool says_yes(const Effects& effects) {
  const auto reply = find_sent<CanvassReply>(effects);
  BOOST_REQUIRE(reply.has_value());
  return reply->is_yes;
}

}  // namespace
// --- would you grant me? ---

BOOST_AUTO_TEST_CASE(who_knows_no_leader_would_grant_anybodys_claim) {
  GuardHarness node;
  node.join();
  const Effects effects = node.receive_canvass(1, 42);
  BOOST_TEST(sent(effects) == "CANVASS_REPLY to 1");
  BOOST_TEST(says_yes(effects));
  BOOST_TEST(find_sent<CanvassReply>(effects)->number == 42u);
}

BOOST_AUTO_TEST_CASE(an_opinion_binds_nobody_and_costs_no_epoch) {
  GuardHarness node;
  node.join();
  BOOST_TEST(says_yes(node.receive_canvass(1)));
  BOOST_TEST(says_yes(node.receive_canvass(2)));
  BOOST_TEST(node.max_epoch() == 0u);
}

BOOST_AUTO_TEST_CASE(who_hears_a_leader_would_grant_no_lower_one_and_names_the_leader) {
  GuardHarness node;
  node.follow(5, 1);
  const Effects effects = node.receive_canvass(4);
  BOOST_TEST(!says_yes(effects));
  BOOST_REQUIRE(find_sent<CanvassReply>(effects)->leader.has_value());
  BOOST_TEST(number_of(find_sent<CanvassReply>(effects)->leader->id) == 5u);
}

BOOST_AUTO_TEST_CASE(who_outranks_the_leader_would_be_granted_where_it_may_preempt) {
  GuardHarness always;
  always.follow(4, 1);
  BOOST_TEST(says_yes(always.receive_canvass(5)));
  BOOST_TEST(!says_yes(always.receive_canvass(2)));
  GuardHarness never({.options = {.preempt = Preempt::kOff}});
  never.follow(4, 1);
  BOOST_TEST(!says_yes(never.receive_canvass(5)));
}

BOOST_AUTO_TEST_CASE(a_leader_that_an_operator_named_is_outranked_by_nobody) {
  GuardHarness node;
  node.join();
  node.receive(4, 1, Coordinator{.is_appointed = true, .sequence = 1, .terms = node.terms()});
  node.disk_has_it();
  BOOST_TEST(!says_yes(node.receive_canvass(5)));
}

BOOST_AUTO_TEST_CASE(once_the_leader_is_suspected_a_lower_one_would_be_granted) {
  GuardHarness node;
  node.follow(5, 1);
  BOOST_TEST(!says_yes(node.receive_canvass(1)));
  node.run_for(milliseconds(500));
  BOOST_TEST(says_yes(node.receive_canvass(1)));
}

BOOST_AUTO_TEST_CASE(once_the_leader_has_resigned_a_lower_one_would_be_granted) {
  GuardHarness node;
  node.follow(5, 1);
  node.receive(5, 1, Resign{}, 1);
  BOOST_TEST(says_yes(node.receive_canvass(1)));
}

BOOST_AUTO_TEST_CASE(who_counts_other_voters_gets_no_opinion) {
  GuardHarness node;
  node.join();
  BOOST_TEST(sent(node.receive(4, 0, Canvass{.number = 7, .voters = 99})) == "");
}

BOOST_AUTO_TEST_CASE(who_has_no_vote_would_be_granted_nothing) {
  GuardHarness node({}, 3);
  node.join();
  BOOST_TEST(!says_yes(node.receive_canvass(4)));
  BOOST_TEST(says_yes(node.receive_canvass(2)));
}

BOOST_AUTO_TEST_CASE(a_learner_has_no_opinion) {
  GuardHarness node({}, 2);
  node.join();
  BOOST_TEST(sent(node.receive_canvass(2)) == "");
}

BOOST_AUTO_TEST_CASE(who_could_not_store_its_vote_would_not_grant) {
  GuardHarness node;
  node.join();
  node.receive_claim(5, 1);
  node.disk_fails();
  node.receive(5, 1, Resign{}, 1);
  BOOST_TEST(!says_yes(node.receive_canvass(4)));
}

// --- the grant ---

BOOST_AUTO_TEST_CASE(a_vote_is_stored_before_it_is_granted) {
  GuardHarness node;
  node.join();
  BOOST_TEST(everything(node.receive_claim(5, 1)) == "store 1, no leader");
  BOOST_TEST(node.role() == "granted 5 in 1");
  const Effects effects = node.disk_has_it();
  BOOST_TEST(everything(effects) == "GRANT to 5");
  BOOST_TEST(is_granted(effects));
  BOOST_TEST(find_sent<Grant>(effects)->epoch == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_stored_is_the_epoch_who_got_it_and_the_longest_lease) {
  GuardHarness node({.record = {.lease_seen = seconds(3)}});
  node.join();
  const auto first = find_stored(node.receive_claim(5, 4));
  BOOST_REQUIRE(first.has_value());
  BOOST_TEST((*first == Record{4, uuid(5), seconds(3)}));
  const auto second = find_stored(
      node.receive(4, 5, Coordinator{.is_planned = true, .terms = node.terms(seconds(9))}));
  BOOST_REQUIRE(second.has_value());
  BOOST_TEST((*second == Record{5, uuid(4), seconds(9)}));
}

// After a crash it would claim an epoch that peers take for released.
BOOST_AUTO_TEST_CASE(no_frame_and_no_hello_releases_an_epoch_that_the_disk_may_still_lose) {
  GuardHarness node;
  node.join();
  node.receive_claim(5, 7);
  BOOST_TEST(node.node().hello().header.released == 0u);
  BOOST_TEST(header_of_sent<CanvassReply>(node.receive_canvass(1)).released == 0u);
  node.disk_has_it();
  BOOST_TEST(node.node().hello().header.released == 7u);
}

BOOST_AUTO_TEST_CASE(only_the_write_of_this_vote_lets_it_out) {
  GuardHarness node;
  node.join();
  node.receive_claim(4, 1);
  node.receive_claim(5, 2);
  BOOST_TEST(sent(node.step(Persisted{{.max_epoch = 1, .granted_to = uuid(4)}})) == "");
  BOOST_TEST(sent(node.disk_has_it()) == "GRANT to 5");
}

BOOST_AUTO_TEST_CASE(an_epoch_is_granted_to_one_claimant_only) {
  GuardHarness node;
  node.grant(4, 1);
  const Effects effects = node.receive_claim(5, 1);
  BOOST_TEST(!is_granted(effects));
  BOOST_TEST(!find_stored(effects).has_value());
  BOOST_TEST(number_of(node.node().record().granted_to) == 4u);
}

BOOST_AUTO_TEST_CASE(a_vote_outlives_a_restart) {
  GuardHarness node({.record = {.max_epoch = 3, .granted_to = uuid(4), .lease_seen = seconds(1)}});
  node.join();
  BOOST_TEST(!is_granted(node.receive_claim(5, 3)));
  BOOST_TEST(is_granted(node.receive_claim(4, 3)));
}

BOOST_AUTO_TEST_CASE(an_older_epoch_is_not_granted_and_the_answer_tells_of_the_newer) {
  GuardHarness node;
  node.grant(4, 3);
  const Effects effects = node.receive_claim(5, 2);
  BOOST_TEST(!is_granted(effects));
  BOOST_TEST(header_of_sent<Grant>(effects).epoch == 3u);
}

BOOST_AUTO_TEST_CASE(a_claim_that_comes_twice_is_granted_twice_and_stored_once) {
  GuardHarness node;
  node.grant(5, 1);
  const Effects effects = node.receive_claim(5, 1);
  BOOST_TEST(everything(effects) == "GRANT to 5");
  BOOST_TEST(is_granted(effects));
}

// After a restart this voter reports how long its earlier lives may have promised.
BOOST_AUTO_TEST_CASE(a_longer_lease_is_granted_when_the_disk_knows_of_it) {
  GuardHarness node;
  node.grant(5, 1);
  const auto claim_for = [&](Duration lease) {
    return node.receive(5, 1, Coordinator{.sequence = 2, .terms = node.terms(lease)});
  };
  const Effects longer = claim_for(seconds(3));
  BOOST_TEST(everything(longer) == "store 1");
  BOOST_TEST((find_stored(longer) ==
              Record{.max_epoch = 1, .granted_to = uuid(5), .lease_seen = seconds(3)}));
  BOOST_TEST(is_granted(node.disk_has_it()));
  BOOST_TEST(everything(claim_for(seconds(1))) == "GRANT to 5");
  BOOST_TEST((node.node().record().lease_seen == seconds(3)));
}

BOOST_AUTO_TEST_CASE(a_claim_that_counts_other_voters_is_not_granted) {
  GuardHarness node;
  node.join();
  const Effects effects =
      node.receive(5, 1, Coordinator{.terms = {.voters = 99, .lease = seconds(1)}});
  BOOST_TEST(!is_granted(effects));
  BOOST_TEST(!find_stored(effects).has_value());
}

BOOST_AUTO_TEST_CASE(a_claim_of_one_without_a_vote_is_not_granted) {
  GuardHarness node({}, 3);
  node.join();
  BOOST_TEST(!is_granted(node.receive_claim(4, 1)));
}

BOOST_AUTO_TEST_CASE(a_lease_of_ten_seconds_is_granted_and_a_longer_one_is_not) {
  GuardHarness node;
  node.join();
  const auto claim_for = [&](uint64_t epoch, Duration lease) {
    return node.receive(5, epoch, Coordinator{.terms = node.terms(lease)});
  };
  const Effects longer = claim_for(1, seconds(10) + milliseconds(1));
  BOOST_TEST(!is_granted(longer));
  BOOST_TEST(!find_stored(longer).has_value());
  BOOST_TEST(find_stored(claim_for(2, seconds(10))).has_value());
}

// A promise for no time at all would be over as soon as it is made.
BOOST_AUTO_TEST_CASE(a_lease_of_twenty_milliseconds_is_granted_and_a_shorter_one_is_not) {
  for (const Duration lease : {Duration::zero(), Duration(1), milliseconds(20) - Duration(1)}) {
    GuardHarness node;
    node.join();
    const Effects claimed = node.receive(5, 1, Coordinator{.terms = node.terms(lease)});
    BOOST_TEST_REQUIRE(!find_stored(claimed).has_value());
    BOOST_TEST(!is_granted(claimed));
  }
  GuardHarness node;
  node.join();
  const Coordinator shortest{.terms = node.terms(milliseconds(20))};
  BOOST_TEST(find_stored(node.receive(5, 1, shortest)).has_value());
}

BOOST_AUTO_TEST_CASE(a_claim_against_a_leader_that_is_heard_is_not_granted_and_burns_no_epoch) {
  GuardHarness node;
  node.follow(5, 1);
  const Effects effects = node.receive_claim(4, 2);
  BOOST_TEST(!is_granted(effects));
  BOOST_REQUIRE(find_sent<Grant>(effects)->leader.has_value());
  BOOST_TEST(number_of(find_sent<Grant>(effects)->leader->id) == 5u);
  BOOST_TEST(node.max_epoch() == 1u);
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(a_claim_that_the_leader_itself_asked_for_is_granted) {
  GuardHarness node;
  node.follow(5, 1);
  node.receive(1, 2, Coordinator{.is_planned = true, .terms = node.terms()});
  BOOST_TEST(is_granted(node.disk_has_it()));
}

BOOST_AUTO_TEST_CASE(after_a_failed_write_it_grants_nothing_ever_again) {
  GuardHarness node;
  node.join();
  node.receive_claim(5, 1);
  BOOST_TEST(sent(node.disk_fails()) == "");
  BOOST_TEST(!is_granted(node.receive_claim(5, 1)));
  node.receive(5, 1, Resign{}, 1);
  const Effects effects = node.receive_claim(4, 2);
  BOOST_TEST(!is_granted(effects));
  BOOST_TEST(!find_stored(effects).has_value());
  BOOST_TEST(!node.node().may_lead());
}

// --- a claim is not yet a leader ---

BOOST_AUTO_TEST_CASE(the_application_hears_of_a_leader_when_it_leads) {
  GuardHarness node;
  node.join();
  BOOST_TEST(published(node.receive_claim(5, 1)) == "no leader");
  node.disk_has_it();
  BOOST_TEST(published(node.receive_early_beat(5, 1)) == "");
  BOOST_TEST(published(node.receive_beat(5, 1)) == "follows 5 in 1");
  BOOST_TEST(published(node.receive_beat(5, 1)) == "");
}

BOOST_AUTO_TEST_CASE(a_learner_follows_who_leads_and_not_who_claims) {
  GuardHarness node({}, 2);
  node.join();
  BOOST_TEST(everything(node.receive_claim(2, 1)) == "");
  node.receive_early_beat(2, 1);
  BOOST_TEST(node.role() == "joining");
  node.receive_beat(2, 1);
  BOOST_TEST(node.role() == "follows 2 in 1");
}

// --- who has no vote ---

// 4 and 5 are strangers that rank above it and say that they may lead.
BOOST_AUTO_TEST_CASE(nobody_waits_for_one_without_a_vote) {
  GuardHarness node({}, 3);
  node.join();
  node.step(Joined{});
  BOOST_TEST(sent(node.run_for(milliseconds(10))) == "ELECTION to 4, ELECTION to 5");
  for (const uint32_t stranger : {5u, 4u}) node.receive_answer(stranger, true);
  const std::string then = sent(node.run_for(milliseconds(200)));
  BOOST_TEST(then.starts_with("CANVASS to 1, CANVASS to 2"), then);
}

BOOST_AUTO_TEST_CASE(of_a_leader_only_the_word_of_voters_counts) {
  GuardHarness node({}, 3);
  node.join();
  node.step(Joined{});
  const LeaderHint stranger{.id = uuid(5), .epoch = 9};
  const LeaderHint voter{.id = uuid(2), .epoch = 9};
  const auto waits = [&](uint32_t from, const LeaderHint& hint) {
    const Effects effects = node.receive_answer(from, false, hint);
    return reported<Remark>(effects) == "others hear a leader";
  };
  BOOST_TEST(!waits(5, stranger));
  BOOST_TEST(!waits(1, stranger));
  BOOST_TEST(!waits(5, voter));
  BOOST_TEST(waits(1, voter));
}

// --- an id is told to everybody; only a name can be bound to a certificate ---

Hello stranger_with_the_id_of(uint32_t number, uint64_t epoch, const GuardHarness& node) {
  Hello hello = NodeHarness::hello_of(number, epoch);
  hello.header.released = epoch;
  hello.voters = node.node().majority()->hash;
  hello.self.name = "stranger";
  return hello;
}

BOOST_AUTO_TEST_CASE(the_id_of_a_voter_is_not_used_under_another_name) {
  GuardHarness node;
  node.follow(5, 1);
  for (const bool is_connected : {true, false}) {
    if (!is_connected) node.disconnect(5, LinkEvidence::kClosed);
    const Effects effects = node.connect(stranger_with_the_id_of(5, 1, node));
    BOOST_TEST(everything(effects) == "refuse 5");
    BOOST_TEST(reported<Rejected>(effects) == "a peer has the id of a voter, and another name");
    BOOST_TEST(node.role() == "follows 5 in 1");
    BOOST_TEST(!says_yes(node.receive_canvass(4)));
  }
}

BOOST_AUTO_TEST_CASE(whoever_is_no_voter_releases_nothing_with_the_id_of_one) {
  GuardHarness node;
  node.step(Start{});
  node.connect(stranger_with_the_id_of(5, 1, node));
  BOOST_TEST(node.node().members().find(uuid(5))->released == 0u);
  node.receive(5, 1, Leave{1}, 1);
  BOOST_TEST(node.node().members().find(uuid(5))->released == 0u);
  // The voter itself comes, and is who it says.
  Hello hello = NodeHarness::hello_of(5, 1);
  hello.voters = node.node().majority()->hash;
  node.connect(hello);
  BOOST_TEST(node.node().members().find(uuid(5))->slot.has_value());
}

BOOST_AUTO_TEST_CASE(whoever_is_no_voter_is_followed_by_nobody) {
  for (const bool is_followed : {false, true}) {
    GuardHarness node;
    is_followed ? node.follow(5, 1) : node.grant(5, 1);
    Hello hello = NodeHarness::hello_of(7, 1);
    hello.voters = node.node().majority()->hash;
    node.connect(hello);
    const std::string before = node.role();
    BOOST_TEST(reported<Rejected>(node.receive_beat(7, 6)) ==
               "it says that it leads, and is not a voter");
    BOOST_TEST(node.role() == before);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
