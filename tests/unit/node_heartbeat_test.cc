// Heartbeats: the leader beats to every member it is connected with, each answers with what it
// knows, and the list of members follows when theirs is another one.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

const std::string kBeatsToAll = "HEARTBEAT to 1, HEARTBEAT to 2, HEARTBEAT to 4, HEARTBEAT to 5";

MemberView members_of(const NodeHarness& node) {
  MemberView view;
  for (const Member& member : node.node().members().all()) view.entries.push_back(member.entry);
  return view;
}

bool is_electable(const NodeHarness& node, uint32_t number) {
  return node.node().members().find(uuid(number))->entry.is_electable;
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
      node.acknowledge(number, number < 3);
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

// Until it has the leader's own list it has none that counts, whatever it kept from before.
BOOST_AUTO_TEST_CASE(the_ack_says_which_list_of_the_leaders_its_sender_has) {
  NodeHarness node({.known = {.version = {.epoch = 4, .counter = 2}, .entries = {}}});
  node.follow(5, 5);
  BOOST_TEST((find_sent<HeartbeatAck>(node.receive_beat(5, 5))->view == ViewVersion{}));
  MemberView list = members_of(node);
  list.version = {.epoch = 5, .counter = 1};
  node.receive(5, 5, MembersFrame{std::make_shared<MemberView>(list)});
  BOOST_TEST((find_sent<HeartbeatAck>(node.receive_beat(5, 5))->view == ViewVersion{5, 1}));
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
  node.acknowledge(2, false);
  BOOST_TEST(!is_electable(node, 2));
  node.run_for(milliseconds(100));
  node.acknowledge(2, true);
  BOOST_TEST(is_electable(node, 2));
}

BOOST_AUTO_TEST_CASE(a_late_or_repeated_ack_tells_nothing) {
  NodeHarness node;
  node.lead();
  const uint64_t earlier = node.node().sequence();
  node.run_for(milliseconds(100));
  node.acknowledge(2, false);
  for (const uint64_t sequence : {earlier, earlier + 1}) {
    const HeartbeatAck late{.sequence = sequence, .view = {}, .is_electable = true};
    BOOST_TEST(sent(node.receive(2, 1, late, 1)) == "");
    BOOST_TEST(!is_electable(node, 2));
  }
}

// The answers to a follower's questions, and acks that reach who leads no longer, are of the past.
BOOST_AUTO_TEST_CASE(who_follows_learns_from_the_leaders_list_alone_who_may_lead) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(2, 1, HeartbeatAck{.sequence = 1, .is_electable = false}, 1);
  node.receive_answer(4, false);
  BOOST_TEST(is_electable(node, 2));
  BOOST_TEST(is_electable(node, 4));
}

BOOST_AUTO_TEST_CASE(a_hello_that_was_long_under_way_does_not_change_what_the_leaders_list_says) {
  NodeHarness node;
  node.follow(5, 1);
  node.disconnect(4, LinkEvidence::kClosed);
  node.connect_as_witness(4);
  BOOST_TEST(node.liveness_of(4) == "alive");
  BOOST_TEST(is_electable(node, 4));
}

BOOST_AUTO_TEST_CASE(a_member_that_has_not_the_leaders_list_is_sent_it) {
  NodeHarness node;
  node.lead();
  const ViewVersion own = node.node().members().version();
  const ViewVersion kOthers[] = {{}, {own.epoch, own.counter + 7}};  // a rival's of this epoch
  for (const ViewVersion& other : kOthers) {
    const Effects effects = node.acknowledge(2, true, other);
    BOOST_TEST(sent(effects) == "MEMBERS to 2");
    BOOST_TEST((find_sent<MembersFrame>(effects)->view->version == own));
    node.run_for(milliseconds(100));
  }
}

BOOST_AUTO_TEST_CASE(a_list_that_may_still_arrive_is_not_sent_again) {
  NodeHarness node;
  node.lead();
  node.run_for(milliseconds(200));
  const uint64_t latest = node.node().sequence();
  const auto acknowledge = [&](uint64_t sequence) {
    return sent(node.receive(2, 1, HeartbeatAck{.sequence = sequence, .is_electable = true}, 1));
  };
  BOOST_TEST(acknowledge(latest - 1) == "MEMBERS to 2");  // a slow way: acks lag behind the beats
  BOOST_TEST(acknowledge(latest) == "");
  node.run_for(milliseconds(100));
  BOOST_TEST(acknowledge(latest + 1) == "MEMBERS to 2");  // it was lost
}

BOOST_AUTO_TEST_CASE(a_member_whose_list_is_the_leaders_is_sent_none) {
  NodeHarness node;
  node.lead();
  BOOST_TEST(sent(node.acknowledge(2)) == "");
}

BOOST_AUTO_TEST_CASE(an_ack_to_who_leads_no_longer_is_not_answered) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST(sent(node.receive(2, 1, HeartbeatAck{.sequence = 1, .is_electable = true}, 1)) == "");
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
  for (uint32_t number = 1; number <= 6; ++number) view->entries.push_back(member_entry(number));
  node.receive(5, 1, MembersFrame{view});
  BOOST_TEST(everything(node.receive(5, 1, MembersFrame{view})) == "");
}

BOOST_AUTO_TEST_CASE(a_follower_tells_the_leader_of_whom_its_list_lacks) {
  NodeHarness node;
  node.follow(5, 1);
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 3};
  for (const uint32_t number : {1u, 3u, 4u, 5u}) view->entries.push_back(member_entry(number));
  const Effects effects = node.receive(5, 1, MembersFrame{view});
  BOOST_TEST(sent(effects) == "MEMBERS to 5");
  BOOST_TEST(find_sent<MembersFrame>(effects)->view->entries.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_list_of_another_than_the_leader_only_adds_members) {
  NodeHarness node;
  node.follow(5, 1);
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 9};
  view->entries.push_back(member_entry(6));
  view->entries.push_back(member_entry(2));
  view->entries.back().liveness = Liveness::kSuspect;
  node.receive(4, 1, MembersFrame{view}, 1);
  BOOST_TEST(node.liveness_of(6) == "alive");
  BOOST_TEST(node.liveness_of(2) == "alive");
  BOOST_TEST(node.liveness_of(3) == "alive");
  BOOST_TEST((node.node().members().version() == ViewVersion{}));
}

BOOST_AUTO_TEST_CASE(a_leader_does_not_take_over_a_newer_list) {
  NodeHarness node;
  node.lead();
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 99};
  BOOST_TEST(everything(node.receive(2, 1, MembersFrame{view}, 1)) == "");
  BOOST_TEST(node.liveness_of(5) == "alive");
}

BOOST_AUTO_TEST_CASE(a_leader_learns_of_unknown_members_from_any_list) {
  NodeHarness node;
  node.lead();
  auto view = std::make_shared<MemberView>();
  view->entries.push_back(member_entry(6));
  node.receive(2, 1, MembersFrame{view}, 1);
  BOOST_TEST(node.liveness_of(6) == "alive");
  auto newer = std::make_shared<MemberView>();
  newer->version = {.epoch = 1, .counter = 99};
  newer->entries.push_back(member_entry(7));
  node.receive(2, 1, MembersFrame{newer}, 1);
  BOOST_TEST(node.liveness_of(7) == "alive");
}

BOOST_AUTO_TEST_CASE(who_has_been_down_for_long_is_forgotten_by_the_leader) {
  NodeHarness node({.options = {.reap_after = seconds(10)}});
  node.lead().disconnect(2, LinkEvidence::kRefused);
  node.run_for(seconds(9));
  BOOST_TEST(node.liveness_of(2) == "down");
  node.run_for(seconds(2));
  BOOST_TEST(node.liveness_of(2) == "unknown");
}

// Anybody that is taken for a member can name a thousand processes that there are not.
BOOST_AUTO_TEST_CASE(who_was_only_named_by_others_is_forgotten_in_minutes) {
  NodeHarness node;
  node.lead();
  auto rumour = std::make_shared<MemberView>();
  rumour->entries.push_back(member_entry(7));
  node.receive(2, 1, MembersFrame{rumour}, 1);
  node.disconnect(2, LinkEvidence::kRefused);
  BOOST_TEST(node.liveness_of(7) == "alive");
  node.run_for(std::chrono::minutes(4));
  BOOST_TEST(node.liveness_of(7) == "suspect");
  node.run_for(std::chrono::minutes(2));
  BOOST_TEST(node.liveness_of(7) == "unknown");
  BOOST_TEST(node.liveness_of(2) == "down");
}

// A process that was stopped for so long keeps its connections: without a new one nobody would hear
// it again.
BOOST_AUTO_TEST_CASE(who_is_forgotten_while_connected_must_connect_again) {
  NodeHarness node({.options = {.reap_after = seconds(10)}});
  node.lead();
  std::string seen;
  for (int i = 0; i < 15 && node.liveness_of(2) != "unknown"; ++i) {
    node.receive(3, 1, Heartbeat{});
    seen += everything(node.run_for(seconds(1)));
  }
  BOOST_TEST(seen.find("end the link to 2") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
