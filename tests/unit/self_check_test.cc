// A node that has gone wrong is seen by itself, at the step in which it goes wrong.  Each rule is
// broken on purpose in a node of its own, or by effects that no node would have.
#include "core/self_check.hh"

#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

// What a sound node's effects would break if they were these.
std::string broken_by(const NodeHarness& sound, const Effects& effects) {
  SelfCheck self_check = sound.self_check();
  self_check.before_step(sound.now(), Tick{});
  return self_check.broken_by_step(effects).value_or("");
}

template <typename Body>
Send to_5(Body body, uint64_t released = 0) {
  return {.to = uuid(5), .frame = {{.epoch = 1, .released = released}, std::move(body)}};
}

Publish flag_on(const NodeHarness& node, uint64_t epoch, Instant valid_until) {
  return {.is_leader = true,
          .epoch = epoch,
          .leader = node.node().members().self().id,
          .valid_until = valid_until};
}

// For a state that no sound node comes to.
Majority& memory_of(const NodeHarness& node) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the node is not constant, its face is.
  return const_cast<Majority&>(*node.node().majority());
}

Record& record_of(const NodeHarness& node) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): as above.
  return const_cast<Record&>(node.node().record());
}

Role& role_of(const NodeHarness& node) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): as above.
  return const_cast<Role&>(node.node().role());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(self_check)

// --- of the whole life ---

BOOST_AUTO_TEST_CASE(a_published_epoch_may_not_fall_over_several_steps) {
  NodeHarness node;
  node.follow(5, 4);
  SelfCheck self_check(node.node());
  const auto publishes = [&](uint64_t epoch) {
    self_check.before_step(node.now(), Tick{});
    const Effects effects = {Publish{.epoch = epoch, .leader = uuid(5)}};
    return self_check.broken_by_step(effects).value_or("");
  };
  BOOST_TEST(publishes(4) == "");
  BOOST_TEST(publishes(6) == "");
  BOOST_TEST(publishes(5) == "a published epoch fell");
}

BOOST_AUTO_TEST_CASE(a_released_epoch_may_not_be_led) {
  NodeHarness node({.self = 5});
  node.lead();
  SelfCheck self_check(node.node());
  const auto judge = [&](const Effects& effects) {
    self_check.before_step(node.now(), Tick{});
    return self_check.broken_by_step(effects).value_or("");
  };
  const Instant until = node.now() + milliseconds(1);
  BOOST_TEST(judge({Publish{}, to_5(Resign{}, 8)}) == "");
  BOOST_TEST(judge({flag_on(node, 8, until)}) == "leads an epoch that it has released");
  BOOST_TEST(judge({flag_on(node, 9, until)}) == "its flag names another epoch than it leads");
}

BOOST_AUTO_TEST_CASE(the_longest_lease_of_this_life_may_not_be_forgotten) {
  GuardHarness node({.self = 1});
  node.follow(5, 1);
  SelfCheck self_check(node.node());
  const auto judge = [&](Duration voted, Duration kept) {
    self_check.before_step(node.now(), Tick{});
    Voter& voter = memory_of(node).voter;
    voter.vote_for({.claimant = uuid(5), .epoch = 1, .terms = node.terms(voted)}, {});
    record_of(node).lease_seen = kept;
    return self_check.broken_by_step({}).value_or("");
  };
  BOOST_TEST(judge(seconds(1), seconds(1)) == "");
  BOOST_TEST(judge(seconds(3), seconds(3)) == "");
  BOOST_TEST(judge(seconds(1), seconds(3)) == "");
  BOOST_TEST(judge(seconds(1), seconds(1)) == "forgot the longest lease of this life");
}

BOOST_AUTO_TEST_CASE(what_earlier_lives_promised_may_be_forgotten_when_it_is_over) {
  const auto judge = [](Duration after) {
    const GuardHarness node({.record = {.max_epoch = 1, .lease_seen = seconds(3)}});
    SelfCheck self_check(node.node());
    self_check.before_step(node.now(), Start{});
    self_check.broken_by_step({});
    self_check.before_step(node.now() + after, Tick{});
    record_of(node).lease_seen = seconds(1);
    return self_check.broken_by_step({}).value_or("");
  };
  BOOST_TEST(judge(milliseconds(2999)) == "forgot what earlier lives may have promised");
  BOOST_TEST(judge(seconds(3)) != "forgot what earlier lives may have promised");
}

// --- a leader and its lease ---

BOOST_AUTO_TEST_CASE(a_leader_with_a_lease_is_sound) {
  GuardHarness node({.self = 5});
  node.lead();
  const Instant until = node.node().valid_until();
  BOOST_TEST(broken_by(node, {flag_on(node, 1, until)}) == "");
}

BOOST_AUTO_TEST_CASE(a_flag_may_not_hold_longer_than_the_lease) {
  GuardHarness node({.self = 5});
  node.lead();
  const Instant until = node.node().valid_until() + milliseconds(1);
  // With the next heartbeat another lease could begin, if a majority had answered.
  node.run_for(milliseconds(100));
  BOOST_TEST(broken_by(node, {flag_on(node, 1, until)}) == "its flag holds longer than its lease");
}

BOOST_AUTO_TEST_CASE(
    without_the_guard_a_flag_may_not_hold_longer_than_the_silence_of_a_hung_leader) {
  NodeHarness node({.self = 5});
  node.lead();
  const Instant until = node.node().valid_until();
  BOOST_TEST(broken_by(node, {flag_on(node, 1, until)}) == "");
  BOOST_TEST(broken_by(node, {flag_on(node, 1, until + milliseconds(1))}) ==
             "its flag holds longer than its lease");
}

BOOST_AUTO_TEST_CASE(whose_flag_is_on_leads_and_in_that_epoch) {
  NodeHarness follower;
  follower.follow(5, 4);
  const Instant until = follower.now() + milliseconds(1);
  BOOST_TEST(broken_by(follower, {flag_on(follower, 4, until)}) ==
             "its flag is on though it does not lead");
  BOOST_TEST(broken_by(follower, {flag_on(follower, 4, until), Publish{.epoch = 4}}) == "");
  BOOST_TEST(broken_by(follower, {flag_on(follower, 4, follower.now())}) == "");
  NodeHarness leader({.self = 5});
  leader.lead();
  BOOST_TEST(broken_by(leader, {flag_on(leader, 2, leader.now() + milliseconds(1))}) ==
             "its flag names another epoch than it leads");
}

BOOST_AUTO_TEST_CASE(a_flag_that_was_left_on_is_seen_at_the_next_step) {
  NodeHarness node;
  node.follow(5, 4);
  SelfCheck self_check(node.node());
  const auto judge = [&](const Effects& effects) {
    self_check.before_step(node.now(), Tick{});
    return self_check.broken_by_step(effects).value_or("");
  };
  const Instant until = node.now() + milliseconds(1);
  judge({flag_on(node, 4, until)});
  BOOST_TEST(judge({}) == "its flag is on though it does not lead");
  node.pass(milliseconds(1));
  BOOST_TEST(judge({}) == "");
}

// What is judged after that takes the lease for granted.
BOOST_AUTO_TEST_CASE(a_leader_without_a_lease_is_seen_before_anybody_asks_for_it) {
  GuardHarness node({.self = 5});
  node.lead();
  const Instant until = node.node().valid_until();
  std::get<Leading>(role_of(node)).right = ByWord{};
  BOOST_REQUIRE(node.node().lease() == nullptr);
  BOOST_TEST(broken_by(node, {flag_on(node, 1, until)}) == "leads without a lease");
  BOOST_TEST(broken_by(node, {}) == "leads without a lease");
}

// --- a voter and what it says ---

BOOST_AUTO_TEST_CASE(a_promise_may_not_be_longer_than_the_disk_remembers) {
  GuardHarness node;
  node.follow(5, 1);
  const Record& kept = node.node().majority()->disk.stored();
  BOOST_TEST((kept.lease_seen == node.node().majority()->voter.terms().lease));
  HeartbeatAck ack{.sequence = 2, .promised_epoch = 1};
  BOOST_TEST(broken_by(node, {to_5(ack)}) == "");
  Record shorter = kept;
  shorter.lease_seen = milliseconds(999);
  memory_of(node).disk.on_stored(shorter);
  BOOST_TEST(broken_by(node, {to_5(ack)}) == "promised for longer than the disk remembers");
}

// Nonsense, but a peer may say it: it releases the epoch that it claims, and for longer than
// before. What the release makes the voter tell comes before the vote for the longer lease.
BOOST_AUTO_TEST_CASE(a_promise_that_was_told_before_a_vote_for_a_longer_lease_is_kept) {
  GuardHarness node;
  node.grant(5, 1);
  const Coordinator longer{.sequence = 2, .terms = node.terms(seconds(3))};
  const std::string done = everything(node.receive(5, 1, longer, 1));
  BOOST_TEST(done.starts_with("GRANT to 5"), done);
  BOOST_TEST(done.find("store 1") != std::string::npos, done);
  BOOST_TEST(node.broken() == "");
}

BOOST_AUTO_TEST_CASE(a_promise_may_be_told_to_the_one_that_has_it_only) {
  GuardHarness node;
  node.follow(5, 1);
  Send ack = to_5(HeartbeatAck{.sequence = 2, .promised_epoch = 1});
  BOOST_TEST(broken_by(node, {ack}) == "");
  ack.to = uuid(4);
  BOOST_TEST(broken_by(node, {ack}) == "told of a vote that the disk does not have");
}

BOOST_AUTO_TEST_CASE(a_vote_may_be_told_to_one_with_the_same_voters_only) {
  GuardHarness node;
  node.follow(5, 1);
  const Send ack = to_5(HeartbeatAck{.sequence = 2, .promised_epoch = 1});
  BOOST_TEST(broken_by(node, {ack}) == "");
  Voter& voter = memory_of(node).voter;
  Claim other{.terms = voter.terms()};
  other.terms.voters = 99;
  voter.vote_for(other, {});
  BOOST_TEST(broken_by(node, {ack}) == "voted for one with other [voters]");
  BOOST_TEST(broken_by(node, {to_5(Grant{.epoch = 1, .is_granted = true})}) ==
             "voted for one with other [voters]");
  BOOST_TEST(broken_by(node, {to_5(Grant{.epoch = 1})}) == "");
}

// --- the evidence ---

BOOST_AUTO_TEST_CASE(the_evidence_tells_both_states_and_the_last_inputs) {
  NodeHarness node;
  node.follow(5, 4);
  node.pass(milliseconds(3));
  node.disconnect(5, LinkEvidence::kRefused);
  const SelfCheck& evidence = node.self_check();
  const std::string leader = to_string(uuid(5));
  BOOST_TEST(evidence.state_before() == "follows " + leader + " in epoch 4, highest epoch 4");
  BOOST_TEST(evidence.state_after() == "knows no leader, highest epoch 4");
  BOOST_TEST(evidence.last_inputs().starts_with("refused of " + leader +
                                                ", 0 us ago; COORDINATOR of " + leader +
                                                " in epoch 4, 3000 us ago; "
                                                "HELLO of "));
}

BOOST_AUTO_TEST_CASE(the_evidence_tells_what_the_broken_step_wanted) {
  NodeHarness node;
  node.follow(5, 4);
  SelfCheck self_check(node.node());
  self_check.before_step(node.now(), Tick{});
  const std::string five = to_string(uuid(5));
  const Effects effects = {Remark{}, to_5(Resign{}, 8),
                           Persist{{.max_epoch = 3, .granted_to = uuid(5)}},
                           flag_on(node, 4, node.now() + milliseconds(800)), Publish{}};
  BOOST_REQUIRE(self_check.broken_by_step(effects).has_value());
  BOOST_TEST(self_check.wanted() == "RESIGN to " + five +
                                        " in epoch 1, released 8; store epoch 3, granted to " +
                                        five + "; flag on in epoch 4 for 800 ms; flag off");
}

BOOST_AUTO_TEST_CASE(the_evidence_is_bounded) {
  NodeHarness node;
  node.follow(5, 4);
  for (int i = 0; i < 100; ++i) node.tick();
  std::string inputs = node.self_check().last_inputs();
  BOOST_TEST(std::count(inputs.begin(), inputs.end(), ';') == 7);
  Effects effects(100, Publish{});
  effects.push_back(flag_on(node, 4, node.now() + milliseconds(1)));
  SelfCheck self_check(node.node());
  self_check.before_step(node.now(), Tick{});
  BOOST_REQUIRE(self_check.broken_by_step(effects).has_value());
  BOOST_TEST(self_check.wanted().size() < 100u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
