// Epochs: every claim takes one more than the highest heard, what was heard is stored and never
// falls, and what is too far away is refused.  And Header.released, which names the epochs that a
// process will never lead (again).
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

constexpr uint64_t kStep = uint64_t{1} << 32;
constexpr uint64_t kFar = 2 * kLatestEpochSeed + kStep;  // a step beyond what is believed at once
constexpr uint64_t kTooFarAhead = 2 * kLatestEpochSeed + 4 * kStep;

// Holds an election in which nobody higher is there.
void claim(NodeHarness& node) {
  node.disconnect(4, LinkEvidence::kRefused);
  node.disconnect(5, LinkEvidence::kRefused);
  node.run_for(milliseconds(1000));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_epoch)

BOOST_AUTO_TEST_CASE(the_first_claim_of_an_empty_group_takes_epoch_1) {
  NodeHarness node;
  node.lead();
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(the_first_claim_of_an_empty_group_starts_from_the_seed) {
  NodeHarness node({.options = {.epoch_seed = 1000}});
  node.lead();
  BOOST_TEST(node.role() == "leads in 1001");
}

BOOST_AUTO_TEST_CASE(a_seed_below_what_was_heard_has_no_effect) {
  NodeHarness node({.record = {.max_epoch = 7}, .options = {.epoch_seed = 5}});
  node.lead();
  BOOST_TEST(node.role() == "leads in 8");
}

BOOST_AUTO_TEST_CASE(what_an_earlier_life_has_stored_counts) {
  NodeHarness node({.record = {.max_epoch = 7}});
  BOOST_TEST(node.max_epoch() == 7u);
  node.lead();
  BOOST_TEST(node.role() == "leads in 8");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_in_a_hello) {
  NodeHarness node;
  node.step(Start{});
  node.connect(1, 4);
  node.step(Joined{});
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_the_leader_before) {
  NodeHarness node;
  node.follow(5, 6);
  claim(node);
  BOOST_TEST(node.role() == "leads in 7");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_an_election_message) {
  NodeHarness node;
  node.join();
  node.receive(1, 4, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION});
  claim(node);
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_a_list_of_members) {
  NodeHarness node;
  node.join();
  node.receive(1, 4, MembersFrame{std::make_shared<MemberView>()});
  claim(node);
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_a_refusal) {
  NodeHarness node;
  node.join();
  node.receive(1, 4, Refusal{.refused_epoch = 1});
  claim(node);
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_the_handover_that_asked_for_it) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(5, 2, PlannedHandover{}, 2);  // 5 had claimed anew; its COORDINATOR was lost
  BOOST_TEST(node.role() == "leads in 3");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_a_resignation) {
  NodeHarness node;
  node.follow(5, 1).receive(5, 2, Resign{}, 2);
  claim(node);
  BOOST_TEST(node.role() == "leads in 3");
}

BOOST_AUTO_TEST_CASE(a_claim_is_one_more_than_the_epoch_of_a_leave) {
  NodeHarness node;
  node.follow(5, 1).receive(5, 2, Leave{.boot = 1}, 2);
  claim(node);
  BOOST_TEST(node.role() == "leads in 3");
}

BOOST_AUTO_TEST_CASE(a_leader_claims_above_the_epoch_of_an_ack) {
  NodeHarness node;
  node.lead().receive(1, 6, HeartbeatAck{.is_electable = true}, 6);
  BOOST_TEST(node.role() == "leads in 7");
}

BOOST_AUTO_TEST_CASE(an_election_before_its_claim_changes_no_epoch) {
  NodeHarness node({.record = {.max_epoch = 7}});
  node.join();
  node.step(Joined{});
  node.run_for(milliseconds(200));
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_COLLECTING});
  node.receive(1, 7, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 1}, 7);
  BOOST_TEST(node.max_epoch() == 7u);
}

BOOST_AUTO_TEST_CASE(an_epoch_that_was_heard_is_stored) {
  NodeHarness node;
  BOOST_TEST(everything(node.join().receive(5, 4, Coordinator{})) == "follows 5 in 4, store 4");
}

BOOST_AUTO_TEST_CASE(an_epoch_that_is_known_is_not_stored_again) {
  NodeHarness node;
  node.follow(5, 4);
  BOOST_TEST(everything(node.receive_beat(5, 4)) == "HEARTBEAT_ACK to 5");
}

BOOST_AUTO_TEST_CASE(the_highest_epoch_never_falls) {
  NodeHarness node;
  node.follow(5, 9);
  node.receive(4, 3, Coordinator{});
  node.receive_beat(2, 3);
  node.connect(1, 2, LeaderHint{.id = uuid(2), .epoch = 2});
  BOOST_TEST(node.max_epoch() == 9u);
  BOOST_TEST(node.role() == "follows 5 in 9");
}

BOOST_AUTO_TEST_CASE(an_epoch_stays_the_same_from_claim_to_step_down) {
  NodeHarness node;
  node.lead();
  for (int beat = 0; beat < 20; ++beat) {
    const Effects effects = node.run_for(milliseconds(100));
    BOOST_TEST(header_of_sent<Heartbeat>(effects).epoch == 1u);
    node.receive(1, 1, HeartbeatAck{.is_electable = true}, 1);
  }
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(who_leads_again_takes_a_fresh_epoch) {
  NodeHarness node({.self = 5});
  node.lead();
  node.step(StepDown{});
  BOOST_TEST(node.role() == "leaderless");
  node.run_for(seconds(10));
  BOOST_TEST(node.role() == "leads in 2");
}

// --- epochs that cannot be ---

BOOST_AUTO_TEST_CASE(a_frame_whose_epoch_is_too_far_ahead_ends_its_link) {
  NodeHarness node;
  node.follow(5, 4);
  const Effects effects = node.receive(4, kTooFarAhead, Coordinator{});
  BOOST_TEST(reported<Rejected>(effects) == "epoch too far ahead");
  BOOST_TEST(everything(effects) == "refuse 4");
  BOOST_TEST(node.max_epoch() == 4u);
}

BOOST_AUTO_TEST_CASE(a_hello_whose_epoch_is_too_far_ahead_ends_its_link) {
  NodeHarness node;
  node.follow(5, 4);
  node.disconnect(1, LinkEvidence::kClosed);
  const Effects effects = node.connect(1, kTooFarAhead);
  BOOST_TEST(reported<Rejected>(effects) == "epoch too far ahead");
  BOOST_TEST(everything(effects) == "refuse 1");
  BOOST_TEST(!node.node().members().find(uuid(1))->is_connected);
  BOOST_TEST(node.max_epoch() == 4u);
}

// First epochs are milliseconds of clocks that may be decades apart, and one of them may have died
// after its vote and before anybody heard of it.
BOOST_AUTO_TEST_CASE(any_first_epoch_is_taken_after_any_other) {
  for (const uint64_t known : {uint64_t{1}, uint64_t{1'790'000'000'000}}) {
    NodeHarness node;
    node.follow(5, known);
    node.receive(4, kLatestEpochSeed, Coordinator{});
    BOOST_TEST(node.max_epoch() == kLatestEpochSeed);
  }
}

BOOST_AUTO_TEST_CASE(who_knows_no_epoch_yet_believes_no_other_than_the_rest) {
  NodeHarness node;
  node.step(Start{});
  BOOST_TEST(reported<Rejected>(node.connect(1, kTooFarAhead)) == "epoch too far ahead");
  BOOST_TEST(node.max_epoch() == 0u);
}

// One that was away while a stranger, in steps, led all others far beyond.
BOOST_AUTO_TEST_CASE(who_has_no_leader_comes_nearer_to_a_far_epoch_each_second) {
  NodeHarness node({.self = 1, .options = {.join_timeout = seconds(60)}});
  node.step(Start{});
  for (int second = 1; second < 4; ++second) {
    BOOST_TEST(everything(node.connect(5, kTooFarAhead)) == "refuse 5");
    BOOST_TEST(everything(node.connect(5, kTooFarAhead)) == "refuse 5");
    node.run_for(seconds(1));
  }
  node.connect(5, kTooFarAhead);
  BOOST_TEST(node.max_epoch() == kTooFarAhead);
}

// A stranger cannot lead a group that works to the end of all epochs.
BOOST_AUTO_TEST_CASE(who_has_a_leader_comes_nearer_to_a_far_epoch_each_minute) {
  NodeHarness node;
  node.lead();
  const auto meet = [&](uint64_t epoch) {
    node.disconnect(1, LinkEvidence::kClosed);
    return everything(node.connect(1, epoch));
  };
  BOOST_TEST(meet(kFar) != "refuse 1");
  for (int i = 0; i < 5; ++i) {
    node.run_for(seconds(10));
    BOOST_REQUIRE(node.node().is_leading());
    BOOST_TEST(meet(kFar + kStep) == "refuse 1");
  }
  node.run_for(seconds(10));
  BOOST_TEST(meet(kFar + kStep) != "refuse 1");
  BOOST_TEST(node.max_epoch() >= kFar + kStep);
}

BOOST_AUTO_TEST_CASE(what_follows_a_far_epoch_is_believed_at_once) {
  NodeHarness node({.record = {.max_epoch = kFar}});
  node.follow(5, kFar + 1);
  node.receive(4, kFar + 9, Coordinator{});
  BOOST_TEST(node.max_epoch() == kFar + 9);
}

// A stranger's frames, each a little ahead of the one before.
BOOST_AUTO_TEST_CASE(frames_in_a_row_do_not_lead_beyond_what_may_have_been_missed) {
  NodeHarness node({.record = {.max_epoch = kFar}});
  node.follow(5, kFar);
  for (uint64_t i = 1; i <= 100; ++i) node.receive(4, kFar + 1000 * i, Resign{});
  BOOST_TEST(node.node().hello().header.epoch == kFar + 1000);
  node.run_for(seconds(1));
  node.connect(4, 0);
  node.receive(4, kFar + 2000, Resign{});
  BOOST_TEST(node.node().hello().header.epoch >= kFar + 2000);
}

// Peers that are refused dial every few seconds, not each second.
BOOST_AUTO_TEST_CASE(who_has_no_leader_comes_nearer_by_as_many_steps_as_seconds_have_passed) {
  NodeHarness node({.self = 1, .options = {.join_timeout = seconds(60)}});
  node.step(Start{});
  BOOST_TEST(everything(node.connect(5, kTooFarAhead)) == "refuse 5");
  node.run_for(seconds(3));
  node.connect(5, kTooFarAhead);
  BOOST_TEST(node.max_epoch() == kTooFarAhead);
}

// --- what is released ---

BOOST_AUTO_TEST_CASE(who_does_not_lead_releases_every_epoch_it_knows) {
  NodeHarness node({.record = {.max_epoch = 7}});
  BOOST_TEST(node.node().hello().header.epoch == 7u);
  BOOST_TEST(node.node().hello().header.released == 7u);
  node.follow(5, 8);
  BOOST_TEST(header_of_sent<HeartbeatAck>(node.receive_beat(5, 8)).released == 8u);
}

BOOST_AUTO_TEST_CASE(who_leads_releases_all_epochs_before_its_own) {
  NodeHarness node({.record = {.max_epoch = 7}});
  node.lead();
  const Header in_hello = node.node().hello().header;
  const Header in_beat = header_of_sent<Heartbeat>(node.run_for(milliseconds(100)));
  for (const Header& header : {in_hello, in_beat}) {
    BOOST_TEST(header.epoch == 8u);
    BOOST_TEST(header.released == 7u);
  }
}

BOOST_AUTO_TEST_CASE(the_announcement_names_the_claimed_epoch) {
  NodeHarness node({.self = 5});
  node.join();
  node.step(Joined{});
  const Header header = header_of_sent<Coordinator>(node.tick());
  BOOST_TEST(header.epoch == 1u);
  BOOST_TEST(header.released == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
