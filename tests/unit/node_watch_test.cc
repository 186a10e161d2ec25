// Who is suspected, and on what evidence: silence, the end of a connection, a refused one.  And the
// rule that a process which was stopped itself suspects nobody for it.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

// The node follows 5, which beats regularly for a while.
void follow_with_beats(NodeHarness& node, int beats) {
  node.follow(5, 1);
  for (int beat = 0; beat < beats; ++beat) {
    node.run_for(milliseconds(100));
    node.receive_beat(5, 1);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_watch)

// --- silence ---

BOOST_AUTO_TEST_CASE(a_leader_that_beats_is_not_suspected) {
  NodeHarness node;
  follow_with_beats(node, 50);
  BOOST_TEST(node.role() == "follows 5 in 1");
  BOOST_TEST(node.liveness_of(5) == "alive");
}

BOOST_AUTO_TEST_CASE(a_leader_that_falls_silent_is_suspected_and_lost) {
  NodeHarness node;
  follow_with_beats(node, 50);
  node.run_for(milliseconds(499));
  BOOST_TEST(node.role() == "follows 5 in 1");
  const Effects effects = node.run_for(milliseconds(1));
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(reported<TimedOut>(effects) == "heartbeat");
  BOOST_TEST(node.liveness_of(5) == "suspect");
}

BOOST_AUTO_TEST_CASE(a_leader_that_never_beats_is_suspected_too) {
  NodeHarness node;
  node.follow(5, 1);
  node.run_for(milliseconds(500));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(any_frame_of_the_leader_shows_that_it_lives) {
  NodeHarness node;
  node.follow(5, 1);
  node.run_for(milliseconds(400));
  node.receive(5, 1, MembersFrame{std::make_shared<MemberView>()});
  node.run_for(milliseconds(400));
  BOOST_TEST(node.role() == "follows 5 in 1");
  node.run_for(milliseconds(100));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(frames_of_others_do_not_show_that_the_leader_lives) {
  NodeHarness node;
  node.follow(5, 1);
  for (int step = 0; step < 5; ++step) {
    node.receive(4, 1, ElectionFrame{.kind = ELECTION_MESSAGE_FIRST_PRIVATE}, 1);
    node.run_for(milliseconds(100));
  }
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(an_irregular_leader_is_given_more_time_within_bounds) {
  NodeHarness node;
  node.follow(5, 1);
  for (const int gap : {100, 300, 50, 350, 100, 300, 50, 350}) {
    node.run_for(milliseconds(gap));
    node.receive_beat(5, 1);
  }
  node.run_for(milliseconds(799));
  BOOST_TEST(node.role() == "follows 5 in 1");
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(who_is_suspected_and_is_heard_again_is_alive) {
  NodeHarness node;
  node.follow(5, 1);
  node.run_for(milliseconds(500));
  const Effects effects = node.receive_beat(5, 1);
  BOOST_TEST(node.liveness_of(5) == "alive");
  BOOST_TEST(published(effects) == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(followers_do_not_suspect_each_other_for_silence) {
  NodeHarness node;
  follow_with_beats(node, 100);
  BOOST_TEST(node.liveness_of(1) == "alive");
}

BOOST_AUTO_TEST_CASE(a_leader_suspects_a_follower_that_does_not_answer) {
  NodeHarness node;
  node.lead();
  Effects effects;
  for (int beat = 0; beat < 6; ++beat) {
    effects = node.run_for(milliseconds(100));
    node.receive(2, 1, HeartbeatAck{.is_electable = true}, 1);
  }
  BOOST_TEST(node.liveness_of(1) == "suspect");
  BOOST_TEST(node.liveness_of(2) == "alive");
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(a_leader_goes_on_beating_to_a_follower_that_it_suspects) {
  NodeHarness node;
  node.lead().run_for(seconds(2));
  BOOST_TEST(node.liveness_of(1) == "suspect");
  BOOST_TEST(sent(node.run_for(milliseconds(100))) ==
             "HEARTBEAT to 1, HEARTBEAT to 2, HEARTBEAT to 4, HEARTBEAT to 5");
}

// --- connections that end ---

BOOST_AUTO_TEST_CASE(the_end_of_the_leaders_connection_is_no_reason_to_suspect_it) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.disconnect(5, LinkEvidence::kClosed)) == "");
  BOOST_TEST(node.role() == "follows 5 in 1");
  BOOST_TEST(node.liveness_of(5) == "alive");
}

BOOST_AUTO_TEST_CASE(a_leader_that_does_not_come_back_is_suspected_for_its_silence) {
  NodeHarness node;
  node.follow(5, 1);
  node.disconnect(5, LinkEvidence::kClosed);
  node.run_for(milliseconds(500));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(a_leader_whose_host_refuses_is_down_at_once) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(published(node.disconnect(5, LinkEvidence::kRefused)) == "no leader");
  BOOST_TEST(node.liveness_of(5) == "down");
}

BOOST_AUTO_TEST_CASE(refusal_after_the_end_of_the_connection_counts_too) {
  NodeHarness node;
  node.follow(5, 1);
  node.disconnect(5, LinkEvidence::kClosed);
  BOOST_TEST(published(node.disconnect(5, LinkEvidence::kRefused)) == "no leader");
}

// What is suspicious is said by the configuration, not by the kernel.
BOOST_AUTO_TEST_CASE(a_leader_whose_connection_stalls_is_suspected_for_its_silence_alone) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.disconnect(5, LinkEvidence::kTimeout)) == "");
  BOOST_TEST(node.role() == "follows 5 in 1");
  BOOST_TEST(node.liveness_of(5) == "alive");
  node.run_for(milliseconds(500));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(another_member_whose_connection_ends_is_suspected) {
  NodeHarness node;
  node.follow(5, 1);
  node.disconnect(2, LinkEvidence::kClosed);
  BOOST_TEST(node.liveness_of(2) == "suspect");
  node.disconnect(1, LinkEvidence::kRefused);
  BOOST_TEST(node.liveness_of(1) == "down");
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_connection_to_a_stranger_means_nothing) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.disconnect(99, LinkEvidence::kRefused)) == "");
}

BOOST_AUTO_TEST_CASE(a_timeout_of_the_plugin_is_called_after_what_it_waited_for) {
  NodeHarness asking;
  asking.join().step(Joined{});
  BOOST_TEST(reported<TimedOut>(asking.run_for(milliseconds(300))) == "answer");

  NodeHarness waiting;
  waiting.join().step(Joined{});
  waiting.receive(1, 0, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 1}, 0);
  BOOST_TEST(reported<TimedOut>(waiting.run_for(seconds(1))).starts_with("coordinator"));
}

BOOST_AUTO_TEST_CASE(the_death_of_the_awaited_one_moves_the_election_on) {
  NodeHarness node({.options = {.variant = "classic"}});
  node.join().step(Joined{});
  node.run_for(milliseconds(200));
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST(published(node.disconnect(4, LinkEvidence::kRefused)) == "leads in 1");
}

// --- a pause of this process itself ---

BOOST_AUTO_TEST_CASE(who_was_paused_itself_does_not_suspect_its_leader_for_that) {
  NodeHarness node;
  follow_with_beats(node, 20);
  node.pass(seconds(30));
  const Effects effects = node.tick();
  BOOST_TEST(reported<Remark>(effects) == "this process was paused");
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(after_a_pause_its_patience_is_doubled) {
  NodeHarness node;
  follow_with_beats(node, 20);
  node.pass(seconds(30));
  node.tick();
  node.run_for(milliseconds(400));
  BOOST_TEST(node.role() == "follows 5 in 1");
  node.run_for(milliseconds(600));
  BOOST_TEST(node.role() != "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_paused_suspects_no_follower_for_it) {
  NodeHarness node;
  node.lead();
  node.run_for(milliseconds(100));
  node.pass(seconds(30));
  node.tick();
  BOOST_TEST(node.liveness_of(1) == "alive");
}

BOOST_AUTO_TEST_CASE(a_tick_that_is_a_little_late_is_no_pause) {
  NodeHarness node;
  node.lead();
  node.pass(milliseconds(199));
  BOOST_TEST(reported<Remark>(node.tick()) == "");
}

BOOST_AUTO_TEST_CASE(an_early_tick_changes_nothing) {
  NodeHarness node;
  node.follow(5, 1);
  node.pass(milliseconds(1));
  BOOST_TEST(everything(node.tick()) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
