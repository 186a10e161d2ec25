// The invariants can fail: each is shown a state, a change or effects that break it, and the like
// that does not.  A few need a node that breaks a rule on purpose, or a plugin that waits for ever.
#include "core/invariants.hh"

#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"
#include "scripted_plugin.hh"

namespace bellwether::tests {
namespace {

// A summary as it may never come out of a real node.
NodeSummary summary(bool is_leading, uint32_t leader, uint64_t epoch, uint64_t max_epoch) {
  NodeSummary made(NodeHarness().node());
  made.is_leading = is_leading;
  made.leader.reset();
  if (leader != 0) made.leader = LeaderHint{.id = uuid(leader), .epoch = epoch};
  made.max_epoch = max_epoch;
  return made;
}

std::string change(const NodeSummary& before, const NodeSummary& after) {
  return broken_by_change(before, after).value_or("");
}

template <typename Body>
Send frame(uint64_t released, Body body = {}) {
  return {.to = uuid(1), .frame = {{.epoch = 9, .released = released}, std::move(body)}};
}
Publish flag_on(uint64_t epoch) { return {.is_leader = true, .epoch = epoch, .leader = uuid(3)}; }
Publish flag_off() { return {}; }
Publish follows(uint64_t epoch) { return {.epoch = epoch, .leader = uuid(5)}; }

const NodeSummary kLeads = summary(true, 3, 4, 4);
const NodeSummary kFollows = summary(false, 5, 4, 4);

std::string effects_of(const NodeSummary& before, const Effects& effects) {
  return broken_by_effects(before, effects).value_or("");
}

// What is broken by the state of a node whose plugin does what the script says on ELECT.
std::string state_after_elect(Script script, const NodeSetup& setup = {}) {
  set_script(std::move(script));
  NodeSetup scripted = setup;
  scripted.plugin = &scripted_plugin();
  NodeHarness node(scripted);
  node.join().stop_judging();
  node.step(Elect{});
  return broken_by_state(node.node()).value_or("");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(invariants)

// --- changes ---

BOOST_AUTO_TEST_CASE(the_highest_epoch_may_not_fall) {
  BOOST_TEST(change(summary(false, 0, 0, 5), summary(false, 0, 0, 4)) == "the highest epoch fell");
  BOOST_TEST(change(summary(false, 0, 0, 5), summary(false, 0, 0, 5)) == "");
}

BOOST_AUTO_TEST_CASE(an_epoch_may_not_be_granted_to_another) {
  const auto granted = [](uint32_t to, uint64_t epoch) {
    NodeSummary made = summary(false, 0, 0, epoch);
    if (to != 0) made.granted_to = uuid(to);
    return made;
  };
  BOOST_TEST(change(granted(5, 4), granted(2, 4)) == "granted one epoch twice");
  BOOST_TEST(change(granted(0, 4), granted(2, 4)) == "");  // of one that leads it
  BOOST_TEST(change(granted(5, 4), granted(2, 5)) == "");
  BOOST_TEST(change(granted(5, 4), granted(0, 4)) == "");
  BOOST_TEST(change(granted(5, 4), granted(5, 4)) == "");
}

BOOST_AUTO_TEST_CASE(a_claim_must_take_a_new_epoch) {
  const NodeSummary before = summary(false, 0, 0, 4);
  BOOST_TEST(change(before, summary(true, 3, 4, 4)) == "claimed an epoch that is not new");
  BOOST_TEST(change(before, summary(true, 3, 5, 5)) == "");
}

// Under guard "majority" the epoch is taken with the vote, and led later.
BOOST_AUTO_TEST_CASE(who_claimed_an_epoch_may_lead_it_later) {
  NodeSummary claims = summary(false, 0, 0, 4);
  claims.is_claiming = true;
  BOOST_TEST(change(claims, summary(true, 3, 4, 4)) == "");
}

BOOST_AUTO_TEST_CASE(a_leader_that_goes_on_claims_nothing) {
  BOOST_TEST(change(kLeads, summary(true, 3, 4, 4)) == "");
}

BOOST_AUTO_TEST_CASE(nobody_may_follow_a_leader_of_an_older_epoch) {
  const NodeSummary before = summary(false, 0, 0, 4);
  BOOST_TEST(change(before, summary(false, 5, 3, 4)) == "follows a leader of an older epoch");
  BOOST_TEST(change(before, summary(false, 5, 4, 4)) == "");
}

BOOST_AUTO_TEST_CASE(who_goes_on_following_may_have_heard_of_a_newer_epoch) {
  BOOST_TEST(change(summary(false, 5, 3, 4), summary(false, 5, 3, 4)) == "");
}

// --- effects ---

BOOST_AUTO_TEST_CASE(no_frame_may_release_the_epoch_whose_flag_is_on) {
  const std::string broken = "released an epoch while the flag was on";
  BOOST_TEST(effects_of(kLeads, {frame<Resign>(4)}) == broken);
  BOOST_TEST(effects_of(kLeads, {frame<Resign>(4), flag_off()}) == broken);
  BOOST_TEST(effects_of(kLeads, {flag_off(), frame<Resign>(4)}) == "");
  BOOST_TEST(effects_of(kLeads, {frame<Heartbeat>(3)}) == "");
}

BOOST_AUTO_TEST_CASE(a_flag_that_goes_on_is_watched_from_there) {
  BOOST_TEST(effects_of(kFollows, {frame<Resign>(4), flag_on(5), frame<Coordinator>(4)}) == "");
  BOOST_TEST(effects_of(kFollows, {flag_on(5), frame<Coordinator>(5)}) ==
             "released an epoch while the flag was on");
}

BOOST_AUTO_TEST_CASE(a_published_epoch_may_not_fall) {
  BOOST_TEST(effects_of(kFollows, {follows(3)}) == "a published epoch fell");
  BOOST_TEST(effects_of(kFollows, {follows(5), follows(4)}) == "a published epoch fell");
  BOOST_TEST(effects_of(kFollows, {flag_off(), follows(4), follows(5)}) == "");
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_may_not_beat) {
  const std::string broken = "sent a heartbeat without leading";
  BOOST_TEST(effects_of(kFollows, {frame<Heartbeat>(4)}) == broken);
  BOOST_TEST(effects_of(kLeads, {flag_off(), frame<Heartbeat>(4)}) == broken);
  BOOST_TEST(effects_of(kLeads, {frame<Heartbeat>(3)}) == "");
}

BOOST_AUTO_TEST_CASE(who_only_claims_may_beat_if_the_beat_says_so) {
  NodeSummary claims = summary(false, 0, 0, 4);
  claims.is_claiming = true;
  const auto beat = [](bool is_effective) {
    return frame<Heartbeat>(3, Heartbeat{.is_effective = is_effective});
  };
  BOOST_TEST(effects_of(claims, {beat(false)}) == "");
  BOOST_TEST(effects_of(claims, {beat(true)}) == "sent a heartbeat without leading");
  BOOST_TEST(effects_of(claims, {beat(true), flag_on(4)}) == "sent a heartbeat without leading");
  BOOST_TEST(effects_of(claims, {flag_on(4), beat(true)}) == "");
}

// --- states ---

BOOST_AUTO_TEST_CASE(every_role_that_a_node_can_have_is_sound) {
  BOOST_TEST(!broken_by_state(NodeHarness().join().node()).has_value());
  BOOST_TEST(!broken_by_state(NodeHarness().follow().node()).has_value());
  BOOST_TEST(!broken_by_state(NodeHarness().lead().node()).has_value());
}

BOOST_AUTO_TEST_CASE(every_role_under_guard_majority_is_sound) {
  const auto broken = [](const NodeHarness& node) {
    return broken_by_state(node.node()).value_or("");
  };
  const NodeSetup highest{.self = 5};
  BOOST_TEST(broken(GuardHarness().grant()) == "");
  BOOST_TEST(broken(GuardHarness().follow()) == "");
  BOOST_TEST(broken(GuardHarness(highest).canvass()) == "");
  BOOST_TEST(broken(GuardHarness(highest).vote_for_self()) == "");
  BOOST_TEST(broken(GuardHarness(highest).claim()) == "");
  BOOST_TEST(broken(GuardHarness(highest).lead()) == "");
}

BOOST_AUTO_TEST_CASE(who_looks_for_a_leader_must_have_a_timer) {
  const NodeHarness not_started;
  BOOST_TEST(broken_by_state(not_started.node()).value_or("") == "looks for a leader for ever");
}

BOOST_AUTO_TEST_CASE(with_priority_0_it_may_wait_for_ever) {
  NodeHarness node({.priority = 0});
  node.join().step(Joined{});
  BOOST_TEST(!broken_by_state(node.node()).has_value());
}

BOOST_AUTO_TEST_CASE(who_is_in_an_election_must_have_a_deadline) {
  for (const uint32_t state :
       {ELECTION_STATE_COLLECTING, ELECTION_STATE_WAITING, ELECTION_STATE_HALTED}) {
    BOOST_TEST(state_after_elect([state](const election_event& event, ScriptedAnswer& answer) {
                 if (event.type != ELECTION_EVENT_ELECT) return;
                 election_action& action = answer.add(ELECTION_ACTION_STATE);
                 action.state = state;
                 action.text = "waits";
               }) == "is in an election and waits for ever");
  }
}

BOOST_AUTO_TEST_CASE(a_claim_must_have_an_outcome) {
  BOOST_TEST(state_after_elect([](const election_event& event, ScriptedAnswer& answer) {
               if (event.type != ELECTION_EVENT_ELECT) return;
               election_action& action = answer.add(ELECTION_ACTION_STATE);
               action.state = ELECTION_STATE_CLAIMING;
               action.text = "claims";
             }) == "a claim has no outcome");
}

// --- rules that are broken on purpose are seen ---

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
