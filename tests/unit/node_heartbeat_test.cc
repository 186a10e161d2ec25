// Heartbeats: the leader beats to every member it is connected with, each answers with what it
// knows, and the list of members follows when theirs is older.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

const std::string kBeatsToAll = "HEARTBEAT to 1, HEARTBEAT to 2, HEARTBEAT to 4, HEARTBEAT to 5";

// An acknowledgement by somebody whose list is of this version.
HeartbeatAck ack_with(ViewVersion view, bool is_electable = true) {
  return {.view = view, .is_electable = is_electable};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_heartbeat)

// --- the leader ---

BOOST_AUTO_TEST_CASE(a_leader_beats_to_every_member_once_an_interval) {
  NodeHarness node;
  node.lead();
  for (int beat = 0; beat < 5; ++beat) {
    BOOST_TEST(sent(node.run_for(milliseconds(100))) == kBeatsToAll);
    for (const uint32_t number : {1u, 2u, 4u, 5u}) {
      node.receive(number, 1, ack_with(node.node().members().version(), number < 3), 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(beats_are_numbered) {
  NodeHarness node;
  node.lead();
  const auto sequence_of = [&] {
    return find_sent<Heartbeat>(node.run_for(milliseconds(100)))->sequence;
  };
  const uint64_t first = sequence_of();
  BOOST_TEST(sequence_of() == first + 1);
  BOOST_TEST(sequence_of() == first + 2);
}

BOOST_AUTO_TEST_CASE(a_beat_prolongs_the_flag_before_anything_is_sent) {
  NodeHarness node;
  node.lead();
  const Effects effects = node.run_for(milliseconds(100));
  BOOST_TEST(everything(effects) == "leads in 1, " + kBeatsToAll);
  // The shortest silence after which a peer suspects: nobody elects while the flag is still on.
  BOOST_TEST(
      (last_publish(effects)->valid_until == node.now() + node.node().options().suspect_after_min));
}

BOOST_AUTO_TEST_CASE(members_without_a_connection_get_no_beat) {
  NodeHarness node;
  node.lead();
  node.disconnect(2, LinkEvidence::kClosed);
  BOOST_TEST(sent(node.run_for(milliseconds(100))) ==
             "HEARTBEAT to 1, HEARTBEAT to 4, HEARTBEAT to 5");
}

BOOST_AUTO_TEST_CASE(who_connects_to_a_leader_hears_a_beat_at_once) {
  NodeHarness node;
  node.lead().disconnect(2, LinkEvidence::kClosed);
  const Effects effects = node.connect(2);
  BOOST_TEST(find_sent<Heartbeat>(effects).has_value());
  BOOST_TEST(header_of_sent<Heartbeat>(effects).epoch == 1u);
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_never_beats) {
  NodeHarness node;
  BOOST_TEST(!find_sent<Heartbeat>(node.join().run_for(milliseconds(50))).has_value());
  node.follow(5, 1);
  for (int beat = 0; beat < 20; ++beat) {
    BOOST_TEST(!find_sent<Heartbeat>(node.run_for(milliseconds(100))).has_value());
    node.receive_beat(5, 1);
  }
}

BOOST_AUTO_TEST_CASE(after_a_step_down_no_beat_is_sent) {
  NodeHarness node({.self = 5});
  node.lead();
  node.step(StepDown{.hold = seconds(60)});
  const Effects effects = node.run_for(seconds(2));
  BOOST_TEST(!find_sent<Heartbeat>(effects).has_value());
}

// --- the follower ---

BOOST_AUTO_TEST_CASE(a_beat_is_acknowledged_with_its_number) {
  NodeHarness node;
  node.follow(5, 1);
  const Effects effects = node.receive(5, 1, Heartbeat{.sequence = 42});
  BOOST_TEST(sent(effects) == "HEARTBEAT_ACK to 5");
  const auto ack = find_sent<HeartbeatAck>(effects);
  BOOST_TEST(ack->sequence == 42u);
  BOOST_TEST(!ack->refusal.has_value());
}

BOOST_AUTO_TEST_CASE(the_ack_says_whether_its_sender_may_lead) {
  NodeHarness voter;
  voter.follow(5, 1);
  BOOST_TEST(find_sent<HeartbeatAck>(voter.receive_beat(5, 1))->is_electable);
  NodeHarness witness({.priority = 0});
  witness.follow(5, 1);
  BOOST_TEST(!find_sent<HeartbeatAck>(witness.receive_beat(5, 1))->is_electable);
}

BOOST_AUTO_TEST_CASE(the_ack_says_how_new_the_senders_list_is) {
  NodeHarness node({.known = {.version = {.epoch = 4, .counter = 2}, .entries = {}}});
  node.follow(5, 5);
  BOOST_TEST((find_sent<HeartbeatAck>(node.receive_beat(5, 5))->view == ViewVersion{4, 2}));
}

BOOST_AUTO_TEST_CASE(a_beat_of_the_leader_is_not_published_again) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(!last_publish(node.receive_beat(5, 1)).has_value());
}

// --- what acks tell the leader ---

BOOST_AUTO_TEST_CASE(the_leader_learns_from_acks_who_may_lead) {
  NodeHarness node;
  node.lead();
  const auto is_electable = [&] { return node.node().members().find(uuid(2))->entry.is_electable; };
  node.receive(2, 1, ack_with({}, false), 1);
  BOOST_TEST(!is_electable());
  node.receive(2, 1, ack_with({}, true), 1);
  BOOST_TEST(is_electable());
}

BOOST_AUTO_TEST_CASE(a_member_whose_list_is_older_is_sent_the_leaders) {
  NodeHarness node;
  node.lead();
  const Effects effects = node.receive(2, 1, ack_with({}), 1);
  BOOST_TEST(sent(effects) == "MEMBERS to 2");
  const MemberView& view = *find_sent<MembersFrame>(effects)->view;
  BOOST_TEST(view.version.epoch == 1u);
  BOOST_TEST(view.entries.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_member_whose_list_is_the_leaders_is_sent_none) {
  NodeHarness node;
  node.lead();
  BOOST_TEST(sent(node.receive(2, 1, ack_with(node.node().members().version()), 1)) == "");
}

BOOST_AUTO_TEST_CASE(an_ack_to_who_leads_no_longer_is_not_answered) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(sent(node.receive(2, 1, ack_with({}), 1)) == "");
}

// --- the list of members ---

BOOST_AUTO_TEST_CASE(a_new_leader_makes_a_new_list) {
  NodeHarness node({.record = {.max_epoch = 6}});
  node.lead();
  BOOST_TEST(node.node().members().version().epoch == 7u);
  BOOST_TEST(node.node().members().version().counter >= 1u);
}

BOOST_AUTO_TEST_CASE(every_change_makes_the_leaders_list_newer) {
  NodeHarness node;
  node.lead();
  const ViewVersion before = node.node().members().version();
  node.disconnect(2, LinkEvidence::kTimeout);
  const ViewVersion after = node.node().members().version();
  BOOST_TEST((after == ViewVersion{before.epoch, before.counter + 1}));
}

BOOST_AUTO_TEST_CASE(a_follower_does_not_number_lists) {
  NodeHarness node;
  node.follow(5, 1);
  node.disconnect(2, LinkEvidence::kTimeout);
  BOOST_TEST((node.node().members().version() == ViewVersion{}));
}

BOOST_AUTO_TEST_CASE(a_follower_takes_the_leaders_list_over_and_keeps_it) {
  NodeHarness node;
  node.follow(5, 1);
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 3};
  for (uint32_t number = 1; number <= 6; ++number) {
    view->entries.push_back(member_entry(number));
  }
  const Effects effects = node.receive(5, 1, MembersFrame{view});
  BOOST_TEST(everything(effects) == "members changed, store members");
  BOOST_TEST(node.liveness_of(6) == "alive");
  BOOST_TEST((node.node().members().version() == view->version));
}

BOOST_AUTO_TEST_CASE(the_same_list_again_changes_nothing) {
  NodeHarness node;
  node.follow(5, 1);
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 3};
  view->entries.push_back(member_entry(6));
  node.receive(5, 1, MembersFrame{view});
  BOOST_TEST(everything(node.receive(5, 1, MembersFrame{view})) == "");
}

BOOST_AUTO_TEST_CASE(a_leader_does_not_take_over_a_newer_list) {
  NodeHarness node;
  node.lead();
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 99};
  BOOST_TEST(everything(node.receive(2, 1, MembersFrame{view}, 1)) == "");
  BOOST_TEST(node.liveness_of(5) == "alive");
}

BOOST_AUTO_TEST_CASE(a_leader_learns_of_unknown_members_from_an_older_list) {
  NodeHarness node;
  node.lead();
  auto view = std::make_shared<MemberView>();
  view->entries.push_back(member_entry(6));
  node.receive(2, 1, MembersFrame{view}, 1);
  BOOST_TEST(node.liveness_of(6) == "alive");
}

BOOST_AUTO_TEST_CASE(who_has_been_down_for_long_is_forgotten_by_the_leader) {
  NodeHarness node({.options = {.reap_after = seconds(10)}});
  node.lead().disconnect(2, LinkEvidence::kRefused);
  node.run_for(seconds(9));
  BOOST_TEST(node.liveness_of(2) == "down");
  node.run_for(seconds(2));
  BOOST_TEST(node.liveness_of(2) == "unknown");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
