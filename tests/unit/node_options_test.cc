// New options for a running node: what it takes over, whom it tells, and when it elects by another
// variant.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

Options classic() { return {.variant = "classic"}; }

Hello wanting(uint32_t number, const std::string& variant) {
  Hello hello = NodeHarness::hello_of(number);
  hello.self.variant = variant;
  return hello;
}

// 3 wants "modified" and follows 5; the others want this.
struct Follower : NodeHarness {
  explicit Follower(const std::string& others) {
    step(Start{});
    for (const uint32_t number : {1u, 2u, 4u, 5u}) connect(wanting(number, others));
    receive(5, 1, Coordinator{});
  }
  // As the leader's list says.
  void all_wish(const std::string& variant) {
    auto list = std::make_shared<MemberView>();
    list->version = {.epoch = max_epoch(), .counter = ++lists_};
    for (uint32_t number = 1; number <= 5; ++number) {
      list->entries.push_back(member_entry(number));
      list->entries.back().variant = variant;
    }
    receive(5, max_epoch(), MembersFrame{list});
  }

 private:
  uint64_t lists_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_options)

// --- timers and policies ---

BOOST_AUTO_TEST_CASE(a_leader_beats_at_once_and_then_at_the_new_interval) {
  NodeHarness node;
  node.lead();
  node.step(Reconfigure{{.heartbeat_interval = milliseconds(20)}});
  BOOST_TEST(sent(node.run_for(milliseconds(0))).starts_with("HEARTBEAT to 1"));
  BOOST_TEST((node.wait_of(Timer::kHeartbeat) == milliseconds(20)));
}

BOOST_AUTO_TEST_CASE(the_flag_holds_as_long_as_the_new_suspicion) {
  NodeHarness node;
  node.lead();
  node.step(Reconfigure{
      {.suspect_after_min = milliseconds(300), .suspect_after_max = milliseconds(400)}});
  const Effects beat = node.run_for(milliseconds(0));
  BOOST_TEST((last_publish(beat)->valid_until == node.now() + milliseconds(300)));
}

BOOST_AUTO_TEST_CASE(a_shorter_patience_counts_from_now) {
  NodeHarness node;
  node.follow().run_for(milliseconds(400));
  node.step(Reconfigure{
      {.suspect_after_min = milliseconds(200), .suspect_after_max = milliseconds(300)}});
  BOOST_TEST((node.wait_of(Timer::kSuspicion) == milliseconds(200)));
  node.run_for(milliseconds(199));
  BOOST_TEST(node.role() == "follows 5 in 1");
  node.run_for(milliseconds(2));
  BOOST_TEST(node.liveness_of(5) == "suspect");
}

BOOST_AUTO_TEST_CASE(detection_that_stays_the_same_goes_on) {
  NodeHarness node;
  node.follow().run_for(milliseconds(400));
  const Duration wait = node.wait_of(Timer::kSuspicion);
  node.step(Reconfigure{{.answer_timeout = milliseconds(10)}});
  BOOST_TEST((node.wait_of(Timer::kSuspicion) == wait));
}

BOOST_AUTO_TEST_CASE(who_may_now_take_over_does) {
  NodeHarness node({.self = 5, .options = {.preempt = Preempt::kOff}});
  node.join().receive(4, 1, Coordinator{});
  BOOST_TEST((node.wait_of(Timer::kPreempt) == Duration::zero()));
  node.step(Reconfigure{{.preempt = Preempt::kAlways, .preempt_delay = milliseconds(300)}});
  BOOST_TEST((node.wait_of(Timer::kPreempt) == milliseconds(300)));
  node.step(Reconfigure{{.preempt = Preempt::kOff}});
  node.run_for(milliseconds(400));
  BOOST_TEST(node.role() == "follows 4 in 1");
  node.step(Reconfigure{{.preempt = Preempt::kPriority}});  // an id is no reason
  BOOST_TEST((node.wait_of(Timer::kPreempt) == Duration::zero()));
  node.step(Reconfigure{{.preempt = Preempt::kAlways}});
  node.run_for(milliseconds(0));
  BOOST_TEST(node.role() == "asks 4");
}

BOOST_AUTO_TEST_CASE(the_plugins_timeouts_change_with_the_next_election) {
  NodeHarness node;
  node.follow().step(Elect{});
  BOOST_TEST((node.wait_of(Timer::kPlugin) == milliseconds(100)));
  node.step(Reconfigure{{.answer_timeout = milliseconds(70)}});
  BOOST_TEST((node.wait_of(Timer::kPlugin) == milliseconds(100)));  // this one goes on
  node.receive(5, 2, Coordinator{});
  node.step(Elect{});
  BOOST_TEST((node.wait_of(Timer::kPlugin) == milliseconds(70)));
}

BOOST_AUTO_TEST_CASE(rounds_go_on_where_the_last_instance_stopped) {
  NodeHarness node;
  const auto round_of_election = [&] {
    const Effects effects = node.step(Elect{});
    return find_sent<ElectionFrame>(effects)->round;
  };
  node.follow();
  const uint64_t first = round_of_election();
  node.receive(5, 2, Coordinator{});
  node.step(Reconfigure{{.answer_timeout = milliseconds(70)}});
  BOOST_TEST(round_of_election() == first + 1);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_the_start_stays_as_it_is) {
  NodeHarness node({.options = {.seed = 7}});
  node.follow().step(Reconfigure{{.query_first = false, .sticky = false, .epoch_seed = 9}});
  BOOST_TEST(node.node().options().query_first);
  BOOST_TEST(node.node().options().sticky);
  BOOST_TEST(node.node().options().epoch_seed == 0u);
  BOOST_TEST(node.node().options().seed == 7u);
}

// --- the wanted variant ---

BOOST_AUTO_TEST_CASE(everybody_who_is_connected_is_told_at_once) {
  Follower node("modified");
  node.disconnect(2, LinkEvidence::kClosed);
  const Effects effects = node.step(Reconfigure{classic()});
  BOOST_TEST(sent(effects) == "WISH to 1, WISH to 4, WISH to 5");
  BOOST_TEST(find_sent<Wish>(effects)->variant == "classic");
  BOOST_TEST(node.node().hello().self.variant == "classic");
}

BOOST_AUTO_TEST_CASE(a_wish_that_stays_the_same_is_not_told) {
  Follower node("modified");
  BOOST_TEST(sent(node.step(Reconfigure{{.answer_timeout = milliseconds(70)}})) == "");
}

BOOST_AUTO_TEST_CASE(the_leader_is_told_again_until_its_list_says_so) {
  Follower node("modified");
  node.step(Reconfigure{classic()});
  BOOST_TEST(sent(node.receive_beat(5, 1)) == "HEARTBEAT_ACK to 5, WISH to 5");
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 2};
  view->entries = {member_entry(3), member_entry(5)};
  view->entries[0].variant = "classic";
  node.receive(5, 1, MembersFrame{view}, 0);
  BOOST_TEST(sent(node.receive_beat(5, 1)) == "HEARTBEAT_ACK to 5");
}

BOOST_AUTO_TEST_CASE(a_list_that_is_behind_is_corrected) {
  Follower node("modified");
  BOOST_TEST(sent(node.receive_beat(5, 1)) == "HEARTBEAT_ACK to 5");
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 1, .counter = 2};
  view->entries = {member_entry(3), member_entry(5)};
  view->entries[0].variant = "classic";
  node.receive(5, 1, MembersFrame{view}, 0);
  BOOST_TEST(sent(node.receive_beat(5, 1)) == "HEARTBEAT_ACK to 5, WISH to 5");
}

BOOST_AUTO_TEST_CASE(a_leaders_next_list_says_who_wants_what) {
  NodeHarness node;
  node.lead();
  const ViewVersion before = node.node().members().version();
  node.receive(1, 1, Wish{"classic"}, 1);
  BOOST_TEST((node.node().members().version() > before));
  BOOST_TEST(node.node().members().find(uuid(1))->entry.variant == "classic");
  BOOST_TEST(everything(node.receive(1, 1, Wish{"classic"}, 1)) == "");  // known
}

// A late WISH would contradict the leader's list, and nothing would set it right again.
BOOST_AUTO_TEST_CASE(a_follower_leaves_wishes_to_the_leaders_list) {
  Follower node("modified");
  BOOST_TEST(everything(node.receive(1, 1, Wish{"classic"}, 1)) == "");
  BOOST_TEST(node.node().members().find(uuid(1))->entry.variant == "modified");
}

// --- the switch ---

BOOST_AUTO_TEST_CASE(an_election_goes_by_the_wanted_variant_once_all_who_live_want_it) {
  Follower node("modified");
  node.step(Reconfigure{classic()});
  BOOST_TEST(node.node().has_variant_mismatch());
  node.step(Elect{});
  BOOST_TEST(node.node().active_variant() == "modified");
  node.receive(5, 2, Coordinator{});
  node.all_wish("classic");
  BOOST_TEST(!node.node().has_variant_mismatch());
  BOOST_TEST(node.node().active_variant() == "modified");  // nothing has begun yet
  BOOST_TEST(reported<Remark>(node.step(Elect{})) ==
             "elects by the variant that all want from now on");
  BOOST_TEST(node.node().active_variant() == "classic");
}

BOOST_AUTO_TEST_CASE(who_is_asked_switches_before_it_answers) {
  Follower node("modified");
  node.step(Reconfigure{classic()});
  node.all_wish("classic");
  node.disconnect(5, LinkEvidence::kRefused);
  node.receive(1, 1, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 9}, 1);
  BOOST_TEST(node.node().active_variant() == "classic");
}

BOOST_AUTO_TEST_CASE(an_election_that_runs_is_not_changed) {
  Follower node("modified");
  node.step(Elect{});
  node.step(Reconfigure{classic()});
  node.all_wish("classic");
  node.receive(1, 1, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 9}, 1);
  BOOST_TEST(node.node().active_variant() == "modified");
}

BOOST_AUTO_TEST_CASE(who_is_not_alive_has_no_say) {
  Follower node("classic");
  node.receive(1, 1, Wish{"modified"}, 1);
  node.step(Reconfigure{classic()});
  node.disconnect(1, LinkEvidence::kTimeout);
  BOOST_TEST(node.liveness_of(1) == "suspect");
  BOOST_TEST(!node.node().has_variant_mismatch());
  node.step(Elect{});
  BOOST_TEST(node.node().active_variant() == "classic");
}

BOOST_AUTO_TEST_CASE(who_does_not_say_what_it_wants_is_in_the_way) {
  Follower node("");
  BOOST_TEST(node.node().has_variant_mismatch());
  node.step(Reconfigure{classic()});
  node.step(Elect{});
  BOOST_TEST(node.node().active_variant() == "modified");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
