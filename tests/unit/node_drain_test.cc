// A leader that is to hand over lets its application finish first: it leads on, its flag says that
// nothing new is to be begun, and whatever ends the reign ends the wait.  5 of 1..5 leads epoch 1.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

constexpr Application kAttached{.is_attached = true};

struct Draining : NodeHarness {
  explicit Draining(Options options = {})
      : NodeHarness({.self = 5, .options = with_time(std::move(options))}) {
    lead();
    step(kAttached);
  }

  // And nobody is missed before that is over.
  static Options with_time(Options options) {
    options.drain_timeout = seconds(10);
    options.suspect_after_min = options.suspect_after_max = seconds(20);
    return options;
  }
};

std::string ended(const Effects& effects) {
  std::string ends;
  for (const Effect& effect : effects) {
    if (const auto* end = std::get_if<DrainEnded>(&effect)) ends += name(end->end);
  }
  return ends;
}

const DrainBegun* find_begun(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const auto* begun = std::get_if<DrainBegun>(&effect)) return begun;
  }
  return nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_drain)

// --- it begins ---

BOOST_AUTO_TEST_CASE(who_steps_down_asks_its_application_and_leads_on) {
  Draining node;
  const Effects effects = node.step(StepDown{});
  BOOST_TEST(sent(effects) == "");
  BOOST_TEST(last_publish(effects)->is_leader);
  BOOST_TEST(last_publish(effects)->is_draining);
  const DrainBegun* begun = find_begun(effects);
  BOOST_REQUIRE(begun != nullptr);
  BOOST_TEST(begun->drain.epoch == 1u);
  BOOST_TEST((begun->drain.reason == DrainReason::kStepDown));
  BOOST_TEST((begun->drain.until == node.now() + seconds(10)));
  BOOST_TEST((begun->successor == uuid(4)));
}

BOOST_AUTO_TEST_CASE(each_planned_end_has_its_reason) {
  Draining transfers;
  const Effects to_2 = transfers.step(Transfer{uuid(2)});
  BOOST_TEST((find_begun(to_2)->drain.reason == DrainReason::kTransfer));
  BOOST_TEST((find_begun(to_2)->successor == uuid(2)));
  Draining leaves;
  BOOST_TEST((find_begun(leaves.step(LeaveGroup{}))->drain.reason == DrainReason::kLeave));
}

BOOST_AUTO_TEST_CASE(nobody_is_asked_where_nobody_is_attached_or_no_time_is_given) {
  Draining unattended;
  unattended.step(Application{});
  BOOST_TEST(sent(unattended.step(StepDown{})) == "HANDOVER to 4");
  NodeHarness hurried({.self = 5});
  hurried.lead().step(kAttached);
  BOOST_TEST(sent(hurried.step(StepDown{})) == "HANDOVER to 4");
}

BOOST_AUTO_TEST_CASE(nor_where_an_operator_wants_it_now) {
  Draining node;
  const Effects effects = node.step(StepDown{.is_now = true});
  BOOST_TEST(everything(effects) == "done, no leader, HANDOVER to 4");
  BOOST_TEST((find_begun(effects) == nullptr));
}

// --- while it lasts ---

BOOST_AUTO_TEST_CASE(its_flag_says_so_at_each_beat) {
  Draining node;
  node.step(StepDown{});
  const Effects effects = node.run_for(seconds(9));
  BOOST_TEST(node.role() == "leads in 1");
  for (const Effect& effect : effects) {
    if (const auto* publish = std::get_if<Publish>(&effect)) BOOST_TEST(publish->is_draining);
  }
}

BOOST_AUTO_TEST_CASE(its_beats_tell_the_others) {
  Draining node;
  const auto says_so = [&node] {
    return find_sent<Heartbeat>(node.run_for(milliseconds(100)))->is_draining;
  };
  BOOST_TEST(!says_so());
  node.step(StepDown{});
  BOOST_TEST(says_so());
  BOOST_TEST(node.node().is_leader_draining());
}

BOOST_AUTO_TEST_CASE(who_follows_knows_it_by_the_last_beat_of_its_leader) {
  NodeHarness node;
  node.follow(5, 1);
  const auto knows_it = [&node] { return node.node().is_leader_draining(); };
  BOOST_TEST(!knows_it());
  node.receive(5, 1, Heartbeat{.sequence = 10, .is_draining = true});
  BOOST_TEST(knows_it());
  node.receive(4, 1, Heartbeat{.sequence = 11});  // it does not lead
  BOOST_TEST(knows_it());
  node.receive(5, 1, Heartbeat{.sequence = 11});
  BOOST_TEST(!knows_it());
  node.receive(5, 1, Heartbeat{.sequence = 12, .is_draining = true});
  node.receive(4, 2, Coordinator{});
  BOOST_TEST(!knows_it());
}

BOOST_AUTO_TEST_CASE(it_holds_no_election_and_takes_part_in_none) {
  Draining node;
  node.step(StepDown{});
  BOOST_TEST(outcome(node.step(Elect{})) == "not eligible");
  BOOST_TEST((node.node().obstacle() == Obstacle::kHandingOver));
}

// Whoever waits was told how long that may take.
BOOST_AUTO_TEST_CASE(a_time_that_is_configured_meanwhile_shortens_it_and_never_lengthens_it) {
  Draining node;
  node.step(StepDown{});
  node.run_for(milliseconds(500));
  const auto wait_with = [&node](Duration timeout) {
    Options options = node.node().options();
    options.drain_timeout = timeout;
    node.step(Reconfigure{options});
    return node.wait_of(Timer::kDrain);
  };
  BOOST_TEST((wait_with(seconds(20)) == milliseconds(9500)));
  BOOST_TEST((wait_with(seconds(1)) == milliseconds(500)));
  BOOST_TEST((wait_with(Duration::zero()) <= Duration::zero()));
  BOOST_TEST(ended(node.tick()) == "timeout");
}

BOOST_AUTO_TEST_CASE(whoever_is_named_meanwhile_has_the_place) {
  Draining node;
  node.step(StepDown{});
  node.run_for(milliseconds(200));
  BOOST_TEST(outcome(node.step(Transfer{uuid(2)})) == "done");
  BOOST_TEST((node.wait_of(Timer::kDrain) == milliseconds(9800)));
  BOOST_TEST((node.node().drain()->reason == DrainReason::kTransfer));
  BOOST_TEST(sent(node.step(Drained{1})) == "HANDOVER to 2");
}

// --- it ends ---

BOOST_AUTO_TEST_CASE(when_the_application_has_finished_the_flag_goes_off_and_the_next_is_asked) {
  Draining node;
  node.step(StepDown{});
  node.run_for(milliseconds(50));
  const Effects effects = node.step(Drained{1});
  BOOST_TEST(everything(effects) == "drained, no leader, HANDOVER to 4");
}

BOOST_AUTO_TEST_CASE(what_it_says_of_another_drain_is_no_answer) {
  Draining node;
  node.step(StepDown{});
  BOOST_TEST(everything(node.step(Drained{2})) == "");
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(what_it_says_unasked_comes_to_nothing) {
  Draining node;
  BOOST_TEST(everything(node.step(Drained{1})) == "");
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(it_is_not_waited_for_beyond_its_time) {
  Draining node;
  node.step(StepDown{});
  node.run_for(milliseconds(9999));
  BOOST_TEST(node.role() == "leads in 1");
  const Effects effects = node.run_for(milliseconds(1));
  BOOST_TEST(ended(effects) == "timeout");
  BOOST_TEST(reported<TimedOut>(effects) == "drain");
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(nor_when_it_has_gone) {
  Draining gone;
  gone.step(StepDown{});
  const Effects effects = gone.step(Application{.ability = Ability::kAbsent});
  BOOST_TEST(everything(effects).starts_with("detached, no leader, HANDOVER to 4"));
  Draining detached;  // the node may lead without it
  detached.step(StepDown{});
  BOOST_TEST(ended(detached.step(Application{})) == "detached");
  BOOST_TEST(detached.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(nor_when_it_works_no_more) {
  Draining node;
  node.step(StepDown{});
  const Application hung{.ability = Ability::kUnhealthy, .is_attached = true};
  BOOST_TEST(ended(node.step(hung)) == "cut");
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(an_operator_may_want_the_end_at_once) {
  Draining node;
  node.step(StepDown{});
  const Effects effects = node.step(StepDown{.is_now = true});
  BOOST_TEST(everything(effects) == "done, cut, no leader, HANDOVER to 4");
}

BOOST_AUTO_TEST_CASE(who_is_told_to_leave_a_second_time_does_not_wait) {
  Draining node;
  node.step(LeaveGroup{});
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(sent(node.step(LeaveGroup{})) == "HANDOVER to 4");
  node.receive(4, 2, Coordinator{});
  BOOST_TEST(node.node().has_left());
}

BOOST_AUTO_TEST_CASE(who_is_told_to_leave_while_it_drains_leaves_after_it) {
  Draining node;
  node.step(StepDown{});
  node.step(LeaveGroup{});
  BOOST_TEST(node.role() == "leads in 1");
  node.step(Drained{1});
  node.receive(4, 2, Coordinator{});
  BOOST_TEST(node.node().has_left());
}

BOOST_AUTO_TEST_CASE(a_newer_leader_ends_it) {
  Draining node;
  node.step(StepDown{});
  const Effects effects = node.receive(4, 2, Coordinator{});
  BOOST_TEST(ended(effects) == "cut");
  BOOST_TEST(node.role() == "follows 4 in 2");
  BOOST_TEST(!node.node().is_handing_over());
}

// What it would otherwise claim anew it gives away.
BOOST_AUTO_TEST_CASE(a_newer_epoch_without_a_leader_ends_it) {
  Draining node;
  node.step(StepDown{});
  const Effects effects = node.receive(3, 4, Resign{}, 4);
  BOOST_TEST(ended(effects) == "cut");
  BOOST_TEST(sent(effects) == "HANDOVER to 4");
}

// --- it is called off ---

// Says that its application cannot work.
Effects lose_application(NodeHarness& node, uint32_t member, uint64_t revision = 1) {
  return node.receive(member, 1,
                      Wish{.variant = member_entry(member).variant,
                           .boot = member_entry(member).boot,
                           .revision = revision,
                           .is_electable = false,
                           .ability = Ability::kAbsent});
}

BOOST_AUTO_TEST_CASE(a_leader_that_steps_down_for_nobody_stays) {
  Draining node;
  node.step(StepDown{.hold = seconds(60)});
  for (const uint32_t member : {1u, 2u, 3u})
    BOOST_TEST(ended(lose_application(node, member)) == "");
  const Effects effects = lose_application(node, 4);
  BOOST_TEST(ended(effects) == "called_off");
  BOOST_TEST(!last_publish(effects)->is_draining);
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(!node.node().is_handing_over());
  BOOST_TEST((node.node().obstacle() == Obstacle::kNone));
  BOOST_TEST(everything(node.step(Drained{1})) == "");  // too late
}

BOOST_AUTO_TEST_CASE(a_transfer_to_one_that_has_gone_moves_leadership_to_nobody_else) {
  Draining node;
  node.step(Transfer{uuid(2)});
  BOOST_TEST(ended(lose_application(node, 4)) == "");
  BOOST_TEST(ended(node.disconnect(2, LinkEvidence::kRefused)) == "called_off");
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_for_a_moment_calls_nothing_off) {
  Draining node;
  node.step(Transfer{uuid(2)});
  BOOST_TEST(ended(node.disconnect(2, LinkEvidence::kClosed)) == "");
  node.run_for(milliseconds(200));
  BOOST_TEST(ended(node.connect(2, 1)) == "");
  BOOST_TEST(sent(node.step(Drained{1})) == "HANDOVER to 2");
  Options options;
  options.drain_timeout = seconds(10);
  NodeHarness gone({.self = 5, .options = options});
  gone.lead().step(kAttached);
  gone.step(Transfer{uuid(2)});
  gone.disconnect(2, LinkEvidence::kClosed);
  BOOST_TEST(ended(gone.run_for(options.suspect_after_max)) == "called_off");
}

BOOST_AUTO_TEST_CASE(who_steps_down_does_so_though_the_one_that_was_named_has_gone) {
  Draining node;
  node.step(StepDown{.hold = seconds(60)});
  node.step(Transfer{uuid(2)});
  BOOST_TEST(ended(lose_application(node, 2)) == "");
  BOOST_TEST((node.node().drain()->reason == DrainReason::kStepDown));
  BOOST_TEST(sent(node.step(Drained{1})) == "HANDOVER to 4");
}

BOOST_AUTO_TEST_CASE(who_leaves_goes_whoever_is_there) {
  Draining node;
  node.step(LeaveGroup{});
  for (const uint32_t member : {1u, 2u, 3u, 4u}) lose_application(node, member);
  BOOST_TEST(node.node().drain() != nullptr);
  node.step(Drained{1});
  BOOST_TEST(node.node().has_left());
}

BOOST_AUTO_TEST_CASE(a_hold_begins_when_it_leads_no_longer) {
  Draining node;
  node.step(StepDown{.hold = seconds(4)});
  node.run_for(seconds(6));
  node.step(Drained{1});
  BOOST_TEST((node.wait_of(Timer::kHold) == seconds(4)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
