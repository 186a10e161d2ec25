// Connections, and who may speak over them: the first words of a peer, frames that are not to be
// believed, and what is kept of members that leave and come back.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_links)

// --- hello ---

BOOST_AUTO_TEST_CASE(who_says_hello_is_a_member_and_alive) {
  NodeHarness node;
  node.step(Start{});
  const Effects effects = node.connect(4);
  BOOST_TEST(everything(effects) == "members changed, MEMBERS to 4");
  BOOST_TEST(node.liveness_of(4) == "alive");
  BOOST_TEST(node.node().members().find(uuid(4))->is_connected);
}

BOOST_AUTO_TEST_CASE(the_hello_of_a_new_life_replaces_what_was_known) {
  NodeHarness node;
  node.join().disconnect(4, LinkEvidence::kRefused);
  Hello hello = NodeHarness::hello_of(4);
  hello.self = member_entry(4, 7, 99);
  hello.self.address = "10.0.0.44:7946";
  node.connect(hello);
  const MemberEntry& entry = node.node().members().find(uuid(4))->entry;
  BOOST_TEST((entry == hello.self));
  BOOST_TEST(node.liveness_of(4) == "alive");
}

BOOST_AUTO_TEST_CASE(a_peer_with_the_id_of_this_process_is_rejected) {
  NodeHarness node;
  node.step(Start{});
  const Effects effects = node.connect(3);
  BOOST_TEST(reported<Rejected>(effects) == "a peer has the id of this process");
  BOOST_TEST(everything(effects) == "refuse 3");
}

BOOST_AUTO_TEST_CASE(a_newcomer_is_told_of_all_members) {
  NodeHarness node;
  const Effects effects = node.join().connect(6);
  BOOST_TEST(find_sent<MembersFrame>(effects)->view->entries.size() == 6u);
}

BOOST_AUTO_TEST_CASE(a_known_member_that_knows_nobody_is_told_as_well) {
  NodeHarness node;
  node.lead().disconnect(2, LinkEvidence::kClosed);
  BOOST_TEST(find_sent<MembersFrame>(node.connect(2)).has_value());
}

MemberView full_view() {
  MemberView full;
  for (uint32_t number = 2; number <= 1000; ++number) full.entries.push_back(member_entry(number));
  return full;
}

BOOST_AUTO_TEST_CASE(when_the_group_is_full_of_the_living_a_newcomer_is_refused) {
  NodeHarness node({.self = 1, .known = full_view()});
  node.step(Start{});
  for (uint32_t number = 2; number <= 1000; ++number) node.connect(number);
  const Effects effects = node.connect(5000);
  BOOST_TEST(reported<Rejected>(effects) == "the group is full");
  BOOST_TEST(everything(effects) == "refuse 5000");
  BOOST_TEST(node.liveness_of(5000) == "unknown");
  // There is room again as soon as one of them is gone.
  node.disconnect(7, LinkEvidence::kRefused);
  node.connect(5000);
  BOOST_TEST(node.liveness_of(5000) == "alive");
  BOOST_TEST(node.liveness_of(7) == "unknown");
}

BOOST_AUTO_TEST_CASE(those_that_are_gone_give_way_to_a_newcomer) {
  NodeHarness node({.self = 1, .known = full_view()});
  node.step(Start{});
  node.connect(5000);
  BOOST_TEST(node.liveness_of(5000) == "alive");
  BOOST_TEST(node.node().members().all().size() == 1000u);
}

BOOST_AUTO_TEST_CASE(of_those_that_are_gone_the_one_that_left_goes_first) {
  NodeHarness node({.self = 1, .known = full_view()});
  node.step(Start{});
  node.connect(8);
  node.receive(8, 0, Leave{.boot = NodeHarness::hello_of(8).self.boot});
  node.disconnect(8, LinkEvidence::kClosed);
  node.connect(5000);
  BOOST_TEST(node.liveness_of(8) == "unknown");
  BOOST_TEST(node.liveness_of(2) == "suspect");
}

// A pod whose folder was emptied is another process of the same name.
BOOST_AUTO_TEST_CASE(an_identity_goes_when_another_of_its_name_lives) {
  NodeHarness node;
  node.join().disconnect(4, LinkEvidence::kRefused);
  Hello successor = NodeHarness::hello_of(40);
  successor.self.name = NodeHarness::hello_of(4).self.name;
  node.connect(successor);
  BOOST_TEST(node.liveness_of(4) == "unknown");
  BOOST_TEST(node.liveness_of(40) == "alive");
}

// --- an operator strikes one off ---

BOOST_AUTO_TEST_CASE(the_leader_forgets_a_member_that_is_gone) {
  NodeHarness node;
  node.lead().disconnect(4, LinkEvidence::kRefused);
  const std::string name = NodeHarness::hello_of(4).self.name;
  const ViewVersion before = node.node().members().version();
  BOOST_TEST(outcome(node.step(Forget{name})) == "done");
  BOOST_TEST(node.liveness_of(4) == "unknown");
  BOOST_TEST((before < node.node().members().version()));
  BOOST_TEST(outcome(node.step(Forget{name})) == "unknown member");
}

BOOST_AUTO_TEST_CASE(nobody_forgets_a_member_that_is_there_and_only_the_leader_any) {
  NodeHarness leader;
  leader.lead();
  BOOST_TEST(outcome(leader.step(Forget{NodeHarness::hello_of(4).self.name})) == "still there");
  BOOST_TEST(outcome(leader.step(Forget{NodeHarness::hello_of(3).self.name})) == "still there");
  BOOST_TEST(leader.liveness_of(4) == "alive");
  NodeHarness follower;
  follower.follow().disconnect(4, LinkEvidence::kRefused);
  BOOST_TEST(outcome(follower.step(Forget{NodeHarness::hello_of(4).self.name})) == "not leader");
}

BOOST_AUTO_TEST_CASE(when_the_group_is_full_its_members_may_still_connect) {
  MemberView full;
  for (uint32_t number = 1; number < 1000; ++number) {
    full.entries.push_back(member_entry(number + 1));
  }
  NodeHarness node({.self = 1, .known = full});
  node.step(Start{});
  BOOST_TEST(reported<Rejected>(node.connect(1000)) == "");
}

BOOST_AUTO_TEST_CASE(who_was_known_from_an_earlier_life_is_suspect_until_it_is_heard) {
  MemberView known;
  known.entries.push_back(member_entry(5));
  NodeHarness node({.known = known});
  node.step(Start{});
  BOOST_TEST(node.liveness_of(5) == "suspect");
  node.connect(5);
  BOOST_TEST(node.liveness_of(5) == "alive");
}

// --- frames ---

BOOST_AUTO_TEST_CASE(a_frame_of_a_stranger_is_rejected) {
  NodeHarness node;
  node.join();
  const Effects effects = node.receive(99, 7, Coordinator{});
  BOOST_TEST(reported<Rejected>(effects) == "sender is not connected");
  BOOST_TEST(node.role() == "joining");
  BOOST_TEST(node.max_epoch() == 0u);
}

BOOST_AUTO_TEST_CASE(a_frame_of_a_member_whose_connection_has_ended_is_rejected) {
  NodeHarness node;
  node.join().disconnect(5, LinkEvidence::kClosed);
  const Effects effects = node.receive(5, 7, Coordinator{});
  BOOST_TEST(reported<Rejected>(effects) == "sender is not connected");
  BOOST_TEST(node.role() == "joining");
}

BOOST_AUTO_TEST_CASE(a_frame_that_seems_to_come_from_this_process_is_rejected) {
  NodeHarness node;
  node.join();
  BOOST_TEST(reported<Rejected>(node.receive(3, 7, Coordinator{})) == "sender is not connected");
}

BOOST_AUTO_TEST_CASE(an_election_message_reaches_the_plugin_as_it_was_sent) {
  NodeHarness node;
  node.join();
  const Effects effects =
      node.receive(2, 0, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 4711});
  const auto answer = find_sent<ElectionFrame>(effects);
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(answer->kind == uint32_t{ELECTION_MESSAGE_ANSWER});
  BOOST_TEST(answer->round == 4711u);
}

BOOST_AUTO_TEST_CASE(an_answer_without_taking_part_names_the_leader) {
  NodeHarness node;
  node.follow(5, 4);
  const auto answer = find_sent<ElectionFrame>(
      node.receive(2, 4, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION}, 4));
  BOOST_REQUIRE((answer && answer->leader));
  BOOST_TEST((answer->leader->id == uuid(5)));
  BOOST_TEST(answer->leader->epoch == 4u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_takes_part_names_no_leader) {
  NodeHarness node;
  node.follow(5, 4);
  const auto answer = find_sent<ElectionFrame>(node.receive(
      2, 4, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .flags = ELECTION_FLAG_CALLED}, 4));
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(!answer->leader.has_value());
}

// --- leaving ---

// It follows 5, and 2 has left.
struct AfterLeave : NodeHarness {
  AfterLeave() {
    follow(5, 1);
    receive(2, 1, Leave{.boot = 1}, 1);
  }
};

BOOST_AUTO_TEST_CASE(who_leaves_is_no_member_any_more) {
  AfterLeave node;
  BOOST_TEST(node.liveness_of(2) == "left");
  BOOST_TEST(node.node().members().ranked().size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_leader_that_leaves_is_lost_at_once) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(published(node.receive(5, 1, Leave{.boot = 1}, 1)) == "no leader");
}

BOOST_AUTO_TEST_CASE(the_leave_of_another_life_is_ignored) {
  NodeHarness node;
  node.join();
  const Effects effects = node.receive(2, 0, Leave{.boot = 2});
  BOOST_TEST(reported<Stale>(effects) == "LEAVE");
  BOOST_TEST(node.liveness_of(2) == "alive");
}

BOOST_AUTO_TEST_CASE(who_has_left_is_not_listened_to) {
  AfterLeave node;
  const Effects effects = node.receive(2, 2, Coordinator{});
  BOOST_TEST(reported<Rejected>(effects) == "sender is not connected");
}

BOOST_AUTO_TEST_CASE(the_end_of_its_connection_makes_nobody_of_who_has_left_down) {
  AfterLeave node;
  node.disconnect(2, LinkEvidence::kRefused);
  BOOST_TEST(node.liveness_of(2) == "left");
}

BOOST_AUTO_TEST_CASE(who_has_left_can_come_back) {
  AfterLeave node;
  node.disconnect(2, LinkEvidence::kClosed);
  Hello next_life = NodeHarness::hello_of(2, 1);
  next_life.self.boot = 2;
  node.connect(next_life);
  BOOST_TEST(node.liveness_of(2) == "alive");
  BOOST_TEST(node.node().members().ranked().size() == 5u);
}

// It was said before, on a connection that was made anew, and is read only now.
BOOST_AUTO_TEST_CASE(a_late_hello_of_a_life_that_has_left_brings_nobody_back) {
  AfterLeave node;
  node.disconnect(2, LinkEvidence::kClosed);
  const Effects effects = node.connect(2, 1);
  BOOST_TEST(reported<Rejected>(effects) == "sender is not connected");
  BOOST_TEST(everything(effects) == "end the link to 2");
  node.disconnect(2, LinkEvidence::kClosed);
  node.disconnect(2, LinkEvidence::kRefused);
  BOOST_TEST(node.liveness_of(2) == "left");
}

// Whoever was said to have left, and is there all the same, is not kept out.
BOOST_AUTO_TEST_CASE(a_hello_that_comes_long_after_a_leave_is_not_a_late_one) {
  AfterLeave node;
  node.disconnect(2, LinkEvidence::kClosed);
  node.run_for(seconds(10));
  node.connect(2, 1);
  BOOST_TEST(node.liveness_of(2) == "alive");
}

// --- other [voters] ---

BOOST_AUTO_TEST_CASE(who_counts_other_voters_is_refused) {
  NodeHarness node;
  node.lead();
  Hello hello = NodeHarness::hello_of(7);
  hello.voters = 99;
  const Effects effects = node.connect(hello);
  BOOST_TEST(everything(effects) == "refuse 7");
  BOOST_TEST(reported<Rejected>(effects) ==
             "its guard is not this node's: other [voters], or another record in a store");
  BOOST_TEST(node.node().other_voters(node.now()) == hello.self.name);
  node.run_for(seconds(30));
  BOOST_TEST(node.node().other_voters(node.now()) == "");
}

// Its configuration lacks them, rather than that it is to lead a group of its own.
BOOST_AUTO_TEST_CASE(who_starts_without_voters_beside_some_does_not_lead) {
  NodeHarness node({.self = 1});
  node.step(Start{});
  Hello hello = NodeHarness::hello_of(5);
  hello.voters = 99;
  for (int i = 0; i < 5; ++i) {
    node.connect(hello);
    node.step(Joined{});
    node.run_for(seconds(25));
    BOOST_TEST(node.role() == "joining");
  }
  node.run_for(seconds(10));
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
