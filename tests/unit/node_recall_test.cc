// A voter under guard "majority" that has lost its state: it waits, asks, and only then has a vote
// again.  The node is 3 of 1..5; three others must tell what they know.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

constexpr Start kLost{.is_state_lost = true};
constexpr Start kFirst{.is_state_lost = true, .is_first_start = true};

struct Voter : GuardHarness {
  explicit Voter(Start start = kLost, uint32_t voters = 5)
      : GuardHarness({.start = start}, voters) {
    join();
  }

  // Its answer: it knows of `epoch`.
  Effects recall_from(uint32_t from, uint64_t epoch, bool is_lost = false) {
    return receive(from, epoch,
                   CanvassReply{.number = node().majority()->number, .is_lost = is_lost}, epoch);
  }
  bool has_vote() const { return !node().majority()->voter.recall.is_lost(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_recall)

// --- meanwhile ---

BOOST_AUTO_TEST_CASE(until_then_it_grants_nothing_and_would_grant_nothing) {
  Voter node;
  const Effects effects = node.receive_claim(5, 1);
  BOOST_TEST(!is_granted(effects));
  BOOST_TEST(!find_stored(effects).has_value());
  const auto reply = find_sent<CanvassReply>(node.receive_canvass(4));
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(!reply->is_yes);
}

BOOST_AUTO_TEST_CASE(until_then_it_promises_nothing_but_follows) {
  Voter node;
  const Effects effects = node.receive_beat(5, 1);
  BOOST_REQUIRE(find_sent<HeartbeatAck>(effects).has_value());
  BOOST_TEST(find_sent<HeartbeatAck>(effects)->promised_epoch == 0u);
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(until_then_it_may_not_lead) {
  Voter node;
  BOOST_TEST(!node.node().may_lead());
  BOOST_TEST(outcome(node.step(Elect{})) == "not eligible");
}

// A restart must find the state lost still.
BOOST_AUTO_TEST_CASE(until_then_it_stores_nothing) {
  Voter node;
  Effects all = node.receive_beat(5, 4);
  for (const Effect& effect : node.run_for(seconds(9))) all.push_back(effect);
  for (const Effect& effect : node.receive_beat(5, 4)) all.push_back(effect);
  BOOST_TEST(!find_stored(all).has_value());
}

// What it has heard and does not store meanwhile is not a disk that stands still.
BOOST_AUTO_TEST_CASE(until_then_its_vote_is_forgotten_and_its_disk_is_not_broken) {
  Voter node;
  const auto vote = [&] { return node.node().majority()->vote(node.now(), /*has_leader=*/true); };
  BOOST_TEST((vote() == Vote::kForgotten));
  for (int beat = 0; beat < 50; ++beat) {
    node.receive_beat(5, 4);
    node.run_for(milliseconds(100));
    BOOST_TEST((vote() == Vote::kForgotten));
  }
}

BOOST_AUTO_TEST_CASE(who_asks_it_is_told_that_it_has_lost_its_state) {
  Voter node;
  const auto reply = find_sent<CanvassReply>(
      node.receive(4, 0, Canvass{.number = 7, .voters = node.terms().voters, .is_lost = true}));
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->is_lost);
}

// --- wait first, then ask ---

// A claim that its forgotten vote is part of may still become effective; asked before the wait, the
// others need not have heard of it.
BOOST_AUTO_TEST_CASE(it_asks_when_every_promise_of_an_earlier_life_is_over) {
  Voter node;
  BOOST_TEST(!find_sent<Canvass>(node.run_for(seconds(10) - milliseconds(1))).has_value());
  const Effects effects = node.run_for(milliseconds(1));
  BOOST_TEST(sent(effects) == "CANVASS to 1, CANVASS to 2, CANVASS to 4, CANVASS to 5");
  BOOST_TEST(find_sent<Canvass>(effects)->is_lost);
}

BOOST_AUTO_TEST_CASE(a_peer_that_connects_during_the_wait_is_not_asked_yet) {
  Voter node;
  node.disconnect(4, LinkEvidence::kClosed);
  BOOST_TEST(!find_sent<Canvass>(node.connect(4)).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_said_during_the_wait_is_no_answer) {
  Voter node;
  for (const uint32_t voter : {1u, 2u, 4u, 5u}) node.recall_from(voter, 6);
  BOOST_TEST(!node.has_vote());
}

BOOST_AUTO_TEST_CASE(it_asks_again_until_enough_have_answered) {
  Voter node;
  node.run_for(seconds(10));
  node.recall_from(1, 6);
  node.recall_from(2, 6);
  BOOST_TEST(find_sent<Canvass>(node.run_for(milliseconds(500))).has_value());
  BOOST_TEST(!node.has_vote());
  for (const uint32_t voter : {1u, 2u, 5u}) node.recall_from(voter, 6);
  BOOST_TEST(node.has_vote());
  BOOST_TEST(!node.node().timers().is_armed(Timer::kRecall));
}

BOOST_AUTO_TEST_CASE(it_does_not_ask_again_while_an_answer_may_be_on_its_way) {
  Options far;
  far.answer_timeout = milliseconds(1500);
  GuardHarness node({.options = far, .start = kLost});
  node.join();
  BOOST_TEST(find_sent<Canvass>(node.run_for(seconds(10))).has_value());
  BOOST_TEST(!find_sent<Canvass>(node.run_for(milliseconds(1499))).has_value());
  BOOST_TEST(find_sent<Canvass>(node.run_for(milliseconds(1))).has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_to_an_earlier_question_does_not_count) {
  Voter node;
  node.run_for(seconds(10));
  const uint64_t earlier = node.node().majority()->number;
  node.run_for(milliseconds(500));
  for (const uint32_t voter : {1u, 2u, 4u, 5u}) {
    node.receive(voter, 6, CanvassReply{.number = earlier}, 6);
  }
  BOOST_TEST(!node.has_vote());
}

// --- enough is a majority of others ---

BOOST_AUTO_TEST_CASE(of_five_three_others_must_answer) {
  Voter node;
  node.run_for(seconds(10));
  for (const uint32_t voter : {1u, 2u, 2u, 1u}) node.recall_from(voter, 6);
  BOOST_TEST(!node.has_vote());
  node.recall_from(5, 6);
  BOOST_TEST(node.has_vote());
}

BOOST_AUTO_TEST_CASE(of_three_both_others_must_answer) {
  Voter node(kLost, 3);
  node.run_for(seconds(10));
  for (const uint32_t learner : {4u, 5u}) node.recall_from(learner, 6);
  node.recall_from(1, 6);
  BOOST_TEST(!node.has_vote());
  node.recall_from(2, 6);
  BOOST_TEST(node.has_vote());
}

BOOST_AUTO_TEST_CASE(a_voter_that_has_lost_its_state_too_does_not_count) {
  Voter node;
  node.run_for(seconds(10));
  node.recall_from(1, 6);
  node.recall_from(2, 6);
  node.recall_from(4, 0, /*is_lost=*/true);
  BOOST_TEST(!node.has_vote());
}

// Its epochs go on rising because the first of all is taken from the wall clock.
BOOST_AUTO_TEST_CASE(a_single_voter_has_nobody_to_ask_and_only_waits) {
  GuardHarness node({.self = 1, .priority = 200, .start = kLost}, 1);
  node.join();
  node.run_for(milliseconds(9999));
  BOOST_TEST(!node.node().may_lead());
  node.run_for(milliseconds(1));
  BOOST_TEST(node.node().may_lead());
  GuardHarness first({.self = 1, .priority = 200, .start = kFirst}, 1);
  first.join();
  first.run_for(Duration::zero());
  BOOST_TEST(first.node().may_lead());
}

// --- afterwards ---

BOOST_AUTO_TEST_CASE(it_takes_the_highest_epoch_for_granted_to_nobody_and_stores_it) {
  Voter node;
  node.run_for(seconds(10));
  node.recall_from(1, 4);
  node.recall_from(2, 9);
  const auto record = find_stored(node.recall_from(4, 6));
  BOOST_REQUIRE(record.has_value());
  BOOST_TEST(record->max_epoch == 9u);
  BOOST_TEST((record->granted_to == Uuid{}));
}

BOOST_AUTO_TEST_CASE(it_then_grants_newer_epochs_only) {
  Voter node;
  node.run_for(seconds(10));
  for (const uint32_t voter : {1u, 2u, 4u}) node.recall_from(voter, 9);
  node.disk_has_it();
  BOOST_TEST(!is_granted(node.receive_claim(5, 9)));
  node.receive_claim(5, 10);
  BOOST_TEST(is_granted(node.disk_has_it()));
}

BOOST_AUTO_TEST_CASE(it_supports_no_reign_of_the_epoch_it_recalled) {
  Voter node;
  node.receive_beat(5, 9);
  node.run_for(milliseconds(400));
  for (int i = 0; i < 100; ++i) {
    node.receive_beat(5, 9);
    node.run_for(milliseconds(100));
  }
  for (const uint32_t voter : {1u, 2u, 4u}) node.recall_from(voter, 9);
  node.disk_has_it();
  BOOST_REQUIRE(node.has_vote());
  const auto ack = find_sent<HeartbeatAck>(node.receive_beat(5, 9));
  BOOST_REQUIRE(ack.has_value());
  BOOST_TEST(ack->promised_epoch == 0u);
}

BOOST_AUTO_TEST_CASE(it_may_then_lead_with_a_fresh_epoch) {
  Voter node;
  node.run_for(seconds(10));
  for (const uint32_t voter : {1u, 2u, 4u}) node.recall_from(voter, 9);
  node.disk_has_it();
  BOOST_TEST(node.node().may_lead());
}

// --- a new group ---

BOOST_AUTO_TEST_CASE(in_a_new_group_nobody_remembers_and_nobody_waits) {
  Voter node(kFirst);
  node.run_for(Duration::zero());
  for (const uint32_t voter : {1u, 2u, 4u}) node.recall_from(voter, 0, /*is_lost=*/true);
  BOOST_TEST(!node.has_vote());
  node.recall_from(5, 0, /*is_lost=*/true);
  BOOST_TEST(node.has_vote());
}

// What is left on in a configuration must not cost a lost voter its caution.
BOOST_AUTO_TEST_CASE(a_first_start_in_a_group_that_remembers_asks_a_majority_all_the_same) {
  Voter node(kFirst);
  node.run_for(Duration::zero());
  for (const uint32_t voter : {1u, 2u, 4u}) node.recall_from(voter, 0, /*is_lost=*/true);
  node.recall_from(5, 9);
  BOOST_TEST(!node.has_vote());
}

BOOST_AUTO_TEST_CASE(who_has_no_vote_has_nothing_to_recall) {
  NodeHarness learner({.self = 5, .options = guarded({}, 3), .start = kLost});
  learner.join();
  BOOST_TEST(!find_sent<Canvass>(learner.run_for(seconds(20))).has_value());
}

// --- too few remember ---

// Two of three have lost their state at once.  When all have answered nobody is left who could know
// more; epochs go on rising because the clock is ahead of all that were ever counted up to.
BOOST_AUTO_TEST_CASE(when_all_have_answered_and_too_few_remember_the_clock_helps) {
  GuardHarness node({.options = {.epoch_seed = 5000}, .start = kLost}, 3);
  node.join();
  node.run_for(seconds(10));
  const auto reply = [&](uint32_t from, uint64_t epoch, bool is_lost) {
    return node.receive(from, epoch,
                        CanvassReply{.number = node.node().majority()->number, .is_lost = is_lost},
                        epoch);
  };
  reply(1, 7, false);
  BOOST_TEST(node.node().majority()->voter.recall.is_lost());
  const auto record = find_stored(reply(2, 0, true));
  BOOST_REQUIRE(record.has_value());
  BOOST_TEST(record->max_epoch == 5000u);
  BOOST_TEST((record->granted_to == Uuid{}));
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
}

// --- who waits for it ---

BOOST_AUTO_TEST_CASE(while_some_voter_remembers_a_voter_without_a_vote_is_waited_for) {
  Voter node;
  node.step(Joined{});
  BOOST_TEST((node.node().vote(node.now()) == Vote::kForgotten));
  BOOST_TEST(node.node().waits_for_vote(node.now()));
  node.run_for(seconds(10));
  BOOST_TEST(!node.node().waits_for_vote(node.now()));  // nobody is known that has ever voted
  node.recall_from(1, 6);
  BOOST_TEST(node.node().waits_for_vote(node.now()));
  node.disconnect(1, LinkEvidence::kClosed);
  node.run_for(seconds(1));
  BOOST_TEST(node.node().waits_for_vote(node.now()));
}

// As a StatefulSet starts its first pod: it must be ready before there is a second one.
BOOST_AUTO_TEST_CASE(the_first_voter_of_a_new_group_is_waited_for_until_it_has_asked) {
  NodeHarness node({.self = 1, .options = guarded({}, 3), .start = kLost});
  node.step(Start{kLost});
  node.step(Joined{});
  node.run_for(milliseconds(9900));
  BOOST_TEST(node.node().waits_for_vote(node.now()));
  node.run_for(milliseconds(200));
  BOOST_TEST(!node.node().waits_for_vote(node.now()));
  BOOST_TEST((node.node().vote(node.now()) == Vote::kForgotten));
}

// It reaches nobody: that is no reason to replace the next one as well.
BOOST_AUTO_TEST_CASE(a_voter_whose_peers_neither_answer_nor_refuse_is_waited_for) {
  NodeHarness node({.self = 1, .options = guarded({}, 3), .start = kLost});
  node.step(Start{kLost});
  node.run_for(seconds(60));
  BOOST_TEST(node.node().waits_for_vote(node.now()));
  node.step(Joined{});
  BOOST_TEST(!node.node().waits_for_vote(node.now()));
}

// Who has other voters, and an epoch, may have a leader as well.
BOOST_AUTO_TEST_CASE(beside_voters_of_another_list_nobody_guesses) {
  Voter node(kLost, 3);
  node.receive_beat(2, 4);
  node.run_for(seconds(10));
  Hello other = NodeHarness::hello_of(7, 9);
  other.voters = 99;
  node.connect(other);
  node.recall_from(1, 0, true);
  node.recall_from(2, 0, true);
  BOOST_TEST(!node.has_vote());
  node.run_for(seconds(31));
  node.recall_from(1, 0, true);
  node.recall_from(2, 0, true);
  BOOST_TEST(node.has_vote());
}

BOOST_AUTO_TEST_CASE(a_voter_that_says_hello_with_an_epoch_remembers) {
  NodeHarness node({.self = 1, .options = guarded({}, 3), .start = kLost});
  node.step(Start{kLost});
  Hello hello = NodeHarness::hello_of(2, 6);
  hello.voters = node.node().majority()->hash;
  node.connect(hello);
  node.run_for(seconds(11));
  BOOST_TEST(node.node().waits_for_vote(node.now()));
}

// A majority has granted it to this leader: whatever was forgotten, nobody else can lead it.
BOOST_AUTO_TEST_CASE(with_its_vote_it_backs_whoever_leads) {
  Voter node(kLost, 3);
  node.receive_beat(2, 4);
  node.run_for(seconds(10));
  node.recall_from(1, 4);
  node.recall_from(2, 4);
  node.disk_has_it();
  BOOST_REQUIRE(node.has_vote());
  const Record backed{.max_epoch = 4, .granted_to = uuid(2), .lease_seen = seconds(1)};
  BOOST_TEST((find_stored(node.receive_beat(2, 4)) == backed));
  node.disk_has_it();
  BOOST_TEST(find_sent<HeartbeatAck>(node.receive_beat(2, 4))->promised_epoch == 4u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
