// How a process finds its leader after its start: query first (follow a leader that is there, elect
// only when there is none), or as the textbook has it (elect in any case).  Then who starts the
// election: the next in line at once, the others each a little later.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_join)

namespace {

LeaderHint hint(uint32_t leader, uint64_t epoch) { return {.id = uuid(leader), .epoch = epoch}; }

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_thing_that_is_known_is_that_there_is_no_leader) {
  NodeHarness node;
  const Effects effects = node.step(Start{});
  BOOST_TEST(everything(effects) == "no leader");
  BOOST_TEST(!last_publish(effects)->is_leader);
}

BOOST_AUTO_TEST_CASE(the_hello_says_who_this_process_is_and_whom_it_follows) {
  NodeHarness node({.record = {.max_epoch = 7}});
  const Hello first = node.node().hello();
  MemberEntry self = member_entry(3);
  self.variant = "modified";  // the wanted one
  BOOST_TEST((first.self == self));
  BOOST_TEST(!first.leader.has_value());
  BOOST_TEST((first.view == ViewVersion{}));
  node.follow(5, 8);
  const Hello later = node.node().hello();
  BOOST_REQUIRE(later.leader.has_value());
  BOOST_TEST((later.leader->id == uuid(5)));
  BOOST_TEST(later.leader->epoch == 8u);
}

BOOST_AUTO_TEST_CASE(the_hello_of_a_leader_names_itself_and_its_list) {
  NodeHarness node;
  node.lead();
  const Hello hello = node.node().hello();
  BOOST_REQUIRE(hello.leader.has_value());
  BOOST_TEST((hello.leader->id == uuid(3)));
  BOOST_TEST(hello.view.epoch == 1u);
}

BOOST_AUTO_TEST_CASE(the_hello_of_a_priority_0_process_says_that_it_may_not_lead) {
  BOOST_TEST(!NodeHarness({.priority = 0}).node().hello().self.is_electable);
}

BOOST_AUTO_TEST_CASE(it_looks_for_a_leader_for_the_join_timeout) {
  NodeHarness node({.self = 5});
  node.join();
  node.run_for(milliseconds(499));
  BOOST_TEST(node.role() == "joining");
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(when_everybody_has_answered_it_waits_no_longer) {
  NodeHarness node({.self = 5});
  node.join().step(Joined{});
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(alone_in_its_group_it_leads_at_once) {
  NodeHarness node;
  node.step(Start{});
  node.step(Joined{});
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(it_follows_a_leader_that_says_hello) {
  NodeHarness node;
  node.step(Start{});
  BOOST_TEST(published(node.connect(5, 4, hint(5, 4))) == "follows 5 in 4");
  BOOST_TEST(sent(node.step(Joined{})) == "");
  BOOST_TEST(!node.node().timers().is_armed(Timer::kElect));
}

BOOST_AUTO_TEST_CASE(it_follows_a_leader_that_another_names_if_it_hears_it_too) {
  NodeHarness node;
  node.step(Start{});
  node.connect(5, 4);
  node.connect(2, 4, hint(5, 4));
  // Its hello was on the way when it claimed: only what the epochs say counts.
  BOOST_TEST(node.role() == "joining");
  node.connect(4, 5, hint(5, 5));
  BOOST_TEST(node.role() == "follows 5 in 5");
}

BOOST_AUTO_TEST_CASE(it_does_not_follow_a_leader_that_it_cannot_hear) {
  NodeHarness node;
  node.step(Start{});
  node.connect(2, 4, hint(5, 4));
  BOOST_TEST(node.role() == "joining");
  BOOST_TEST(node.max_epoch() == 4u);
}

BOOST_AUTO_TEST_CASE(who_was_told_of_a_leader_gives_it_the_join_timeout_to_be_heard) {
  NodeHarness node({.self = 5});
  node.step(Start{});
  node.connect(2, 4, hint(4, 4));
  node.step(Joined{});
  BOOST_TEST(node.role() == "joining");
  BOOST_TEST(published(node.connect(4, 4, hint(4, 4))) == "follows 4 in 4");
}

BOOST_AUTO_TEST_CASE(who_hears_of_a_leader_it_cannot_hear_elects_later) {
  NodeHarness node({.self = 4});
  node.join().disconnect(5, LinkEvidence::kTimeout);
  node.step(Joined{});
  const Effects effects = node.connect(2, 4, hint(5, 4));
  BOOST_TEST(reported<Remark>(effects) == "others hear a leader");
  BOOST_TEST((node.wait_of(Timer::kElect) >= milliseconds(100)));
}

BOOST_AUTO_TEST_CASE(even_who_saw_the_leaders_host_refuse_waits_while_others_hear_it) {
  // Its own path may be what is broken; if the leader is dead, the others will notice soon.
  NodeHarness node({.self = 4});
  node.join().disconnect(5, LinkEvidence::kRefused);
  node.step(Joined{});
  node.connect(2, 4, hint(5, 4));
  BOOST_TEST((node.wait_of(Timer::kElect) >= milliseconds(100)));
  node.run_for(milliseconds(300));
  BOOST_TEST(node.role() == "leads in 5");
}

BOOST_AUTO_TEST_CASE(it_follows_no_leader_of_an_older_epoch) {
  NodeHarness node({.record = {.max_epoch = 9}});
  node.step(Start{});
  node.connect(5, 4, hint(5, 4));
  BOOST_TEST(node.role() == "joining");
}

// --- the textbook: who recovers holds an election ---

BOOST_AUTO_TEST_CASE(a_textbook_process_elects_although_there_is_a_leader) {
  NodeHarness node({.self = 4, .options = textbook_options()});
  node.step(Start{});
  node.connect(3, 1, hint(3, 1));
  BOOST_TEST(node.role() == "joining");
  node.step(Joined{});
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "leads in 2");
}

BOOST_AUTO_TEST_CASE(a_textbook_process_elects_although_a_beat_came_first) {
  NodeHarness node({.self = 4, .options = textbook_options()});
  node.step(Start{});
  node.connect(3, 1, hint(3, 1));
  node.receive_beat(3, 1);
  BOOST_TEST(node.role() == "follows 3 in 1");
  BOOST_TEST(published(node.step(Joined{})) == "leads in 2");
}

BOOST_AUTO_TEST_CASE(with_priority_0_even_a_textbook_process_only_follows) {
  NodeHarness node({.self = 4, .priority = 0, .options = textbook_options()});
  node.step(Start{});
  node.connect(3, 1, hint(3, 1));
  node.receive_beat(3, 1);
  BOOST_TEST(published(node.step(Joined{})) == "");
  BOOST_TEST(node.role() == "follows 3 in 1");
}

// --- who starts the election ---

BOOST_AUTO_TEST_CASE(the_next_in_line_starts_at_once) {
  NodeHarness node({.self = 4});
  node.follow(5);
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST((node.wait_of(Timer::kElect) == Duration::zero()));
  BOOST_TEST(node.node().timers().is_armed(Timer::kElect));
}

BOOST_AUTO_TEST_CASE(each_lower_rank_waits_t_longer) {
  for (const uint32_t self : {4u, 3u, 2u, 1u}) {
    NodeHarness node({.self = self});
    node.follow(5);
    node.disconnect(5, LinkEvidence::kRefused);
    const auto ahead = static_cast<Duration::rep>(4 - self);
    BOOST_TEST((node.wait_of(Timer::kElect) == ahead * milliseconds(100)));
  }
}

BOOST_AUTO_TEST_CASE(nobody_waits_longer_than_a_coordinator_may_take) {
  NodeHarness node({.self = 1, .options = {.coordinator_timeout = milliseconds(150)}});
  node.follow(5);
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST((node.wait_of(Timer::kElect) == milliseconds(150)));
}

BOOST_AUTO_TEST_CASE(who_is_dead_or_may_not_lead_is_not_waited_for) {
  NodeHarness node({.self = 2});
  node.join().connect_as_witness(3);
  node.receive(5, 1, Coordinator{});
  node.disconnect(4, LinkEvidence::kRefused);
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST((node.wait_of(Timer::kElect) == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(without_stagger_everybody_starts_at_once) {
  NodeHarness node({.self = 1, .options = {.stagger = false}});
  node.follow(5);
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST(node.node().timers().is_armed(Timer::kElect));
  BOOST_TEST((node.wait_of(Timer::kElect) == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_comes_meanwhile_calls_it_off) {
  NodeHarness node({.self = 2});
  node.follow(5);
  node.disconnect(5, LinkEvidence::kRefused);
  node.receive(4, 2, Coordinator{});
  BOOST_TEST(!node.node().timers().is_armed(Timer::kElect));
  BOOST_TEST(node.role() == "follows 4 in 2");
}

BOOST_AUTO_TEST_CASE(with_priority_0_it_never_elects) {
  NodeHarness node({.self = 5, .priority = 0});
  node.join().step(Joined{});
  BOOST_TEST(sent(node.run_for(seconds(60))) == "");
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(an_election_without_result_is_held_again) {
  NodeHarness node;
  node.join().step(Joined{});
  int elections = 0;
  for (int second = 0; second < 20; ++second) {
    // 4 and 5 answer, and never announce anything.
    const Effects effects = node.run_for(seconds(1));
    if (const auto election = find_sent<ElectionFrame>(effects)) {
      ++elections;
      ElectionFrame answer{.kind = ELECTION_MESSAGE_ANSWER, .flags = 3, .round = election->round};
      node.receive(5, 0, answer);
    }
    if (node.node().is_leading()) break;
  }
  BOOST_TEST(elections > 0);
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
