// Nodes that break a rule on purpose: what follows from it, and that the checks see it.  The rules
// and what breaks them are in ../mutants/rules.txt.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"
#include "rules.hh"
#include "scripted_plugin.hh"
#include "simulator/scenario.hh"

namespace bellwether::tests {
namespace {

using simulator::parse_scenario;
using simulator::run_scenario;
using simulator::ScenarioResult;

std::string change(const NodeSummary& before, const NodeSummary& after) {
  return broken_by_change(before, after).value_or("");
}

std::string effects_of(const NodeSummary& before, const Effects& effects) {
  return broken_by_effects(before, effects).value_or("");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(broken_rules)

// --- a node alone ---

BOOST_AUTO_TEST_CASE(without_reannouncement_a_leader_keeps_an_epoch_that_others_refuse) {
  const Breaking rule(Rule::kReannounce);
  NodeHarness node;
  node.lead().stop_judging();
  node.connect(1, 6);
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(without_refusal_a_stale_claim_is_followed) {
  const Breaking rule(Rule::kRefuseStale);
  NodeHarness node;
  node.follow(5, 4).stop_judging();
  node.receive(2, 3, Coordinator{});
  BOOST_TEST(node.role() == "follows 2 in 3");
}

BOOST_AUTO_TEST_CASE(who_could_lead_and_knows_no_leader_must_have_a_timer) {
  const Breaking rule(Rule::kRetry);
  set_script([](const election_event&, ScriptedAnswer&) {});  // never holds an election
  NodeHarness node({.plugin = &scripted_plugin()});
  node.follow().stop_judging();
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST(!broken_by_state(node.node()).has_value());
  node.run_for(milliseconds(100));
  BOOST_TEST(broken_by_state(node.node()).value_or("") == "knows no leader and waits for ever");
}

BOOST_AUTO_TEST_CASE(a_flag_that_stays_on_while_it_releases_is_seen) {
  const Breaking rule(Rule::kFlagOffBeforeRelease);
  NodeHarness node({.self = 5});
  node.lead().stop_judging();
  const NodeSummary before(node.node());
  BOOST_TEST(effects_of(before, node.step(StepDown{})) ==
             "released an epoch while the flag was on");
}

BOOST_AUTO_TEST_CASE(a_claim_without_a_new_epoch_is_seen) {
  const Breaking rule(Rule::kClaimRaisesEpoch);
  NodeHarness node({.self = 5, .record = {.max_epoch = 4}});
  node.join().stop_judging();
  const NodeSummary before(node.node());
  node.step(Elect{});
  BOOST_TEST(change(before, NodeSummary(node.node())) == "claimed an epoch that is not new");
}

BOOST_AUTO_TEST_CASE(a_handover_without_a_timeout_is_seen) {
  const auto state_after_step_down = [](Rule broken) {
    const Breaking rule(broken);
    NodeHarness node({.self = 5});
    node.lead().stop_judging();
    node.step(StepDown{});
    return broken_by_state(node.node()).value_or("");
  };
  BOOST_TEST(state_after_step_down(Rule::kNone) == "");
  BOOST_TEST(state_after_step_down(Rule::kHandoverTimeout) == "waits for its successor for ever");
}

// No scenario: there nobody reads why.
BOOST_AUTO_TEST_CASE(a_refused_process_is_told_why) {
  const auto told = [](Rule broken) {
    const Breaking rule(broken);
    NodeHarness node({.self = 3});
    node.step(Start{});
    for (const Effect& effect : node.connect(3)) {
      if (const auto* refuse = std::get_if<RefuseLink>(&effect))
        return std::string(words(refuse->why));
    }
    return std::string();
  };
  BOOST_TEST(told(Rule::kNone) == "a peer has the id of this process");
  BOOST_TEST(told(Rule::kSaysWhyRefused) == "sender is not connected");
}

BOOST_AUTO_TEST_CASE(a_flag_that_stays_on_when_the_lease_is_over_is_seen) {
  const Breaking rule(Rule::kFlagOffBeforeRelease);
  GuardHarness node({.self = 5});
  node.lead().stop_judging();
  const NodeSummary before(node.node());
  BOOST_TEST(effects_of(before, node.run_for(milliseconds(800))) ==
             "released an epoch while the flag was on");
}

BOOST_AUTO_TEST_CASE(following_a_stale_claim_is_seen) {
  const Breaking rule(Rule::kRefuseStale);
  NodeHarness node;
  node.follow(5, 4).stop_judging();
  const NodeSummary before(node.node());
  const Effects effects = node.receive(2, 3, Coordinator{});
  BOOST_TEST(change(before, NodeSummary(node.node())) == "follows a leader of an older epoch");
  BOOST_TEST(effects_of(before, effects) == "a published epoch fell");
}

// --- guard "majority" ---

BOOST_AUTO_TEST_CASE(nobody_may_lead_beyond_its_lease) {
  const Breaking rule(Rule::kStepDownWithLease);
  GuardHarness node({.self = 5});
  node.lead().stop_judging();
  node.pass(milliseconds(799));
  node.tick();
  BOOST_TEST(node.broken() == "");
  node.pass(milliseconds(2));
  node.tick();
  BOOST_TEST(node.broken() == "leads beyond its lease");
}

BOOST_AUTO_TEST_CASE(a_lease_may_not_count_from_the_answer) {
  const Breaking rule(Rule::kLeaseFromSend);
  GuardHarness node({.self = 5});
  node.lead();
  node.stop_judging();
  node.receive_promise(1);
  node.pass(milliseconds(50));
  node.receive_promise(1);
  node.receive_promise(2);
  BOOST_TEST(node.broken() == "its flag holds longer than any heartbeat allows");
}

BOOST_AUTO_TEST_CASE(a_vote_may_not_be_told_before_the_disk_has_it) {
  const Breaking rule(Rule::kStoreBeforeGrant);
  GuardHarness node;
  node.join().stop_judging();
  node.receive_claim(5, 1);
  BOOST_TEST(node.broken() == "told of a vote that the disk does not have");
}

BOOST_AUTO_TEST_CASE(an_epoch_may_not_be_granted_twice) {
  const Breaking rule(Rule::kVoteOnce);
  GuardHarness node;
  node.grant(5, 1).stop_judging();
  node.receive_claim(4, 1);
  BOOST_TEST(node.broken() == "granted one epoch twice");
}

BOOST_AUTO_TEST_CASE(a_promise_may_not_be_shorter_than_it_was_told) {
  const Breaking rule(Rule::kFreshPromise);
  GuardHarness node;
  node.join().stop_judging();
  node.receive_claim(5, 1);
  BOOST_TEST(node.broken() == "");
  node.disk_has_it();
  BOOST_TEST(node.broken() == "told of a promise that it does not keep");
}

BOOST_AUTO_TEST_CASE(a_promise_may_not_be_for_another_lease_than_the_leaders) {
  const Breaking rule(Rule::kFrameLease);
  GuardHarness node;
  node.join().stop_judging();
  node.receive_claim(5, 1);
  node.disk_has_it();
  BOOST_TEST(node.broken() == "told of a promise that it does not keep");
}

// What unit.node_promise demands of the wait can fail.
BOOST_AUTO_TEST_CASE(a_promise_for_another_lease_than_the_leaders_is_seen_by_the_next_claimant) {
  const Breaking rule(Rule::kFrameLease);
  GuardHarness node;
  node.stop_judging();
  node.follow(5, 1);
  node.run_for(milliseconds(600));
  node.receive_claim(4, 2);
  const auto grant = find_sent<Grant>(node.disk_has_it());
  BOOST_REQUIRE(grant.has_value());
  BOOST_TEST(grant->waits.empty());
}

// No scenario: in the simulator an id has one name.
BOOST_AUTO_TEST_CASE(a_voter_whose_id_another_name_may_use_is_no_voter_any_more) {
  const auto is_voter_after_hello = [](Rule broken) {
    const Breaking rule(broken);
    GuardHarness node;
    node.follow(5, 1);
    Hello hello = NodeHarness::hello_of(5, 1);
    hello.voters = node.terms().voters;
    hello.self.name = "stranger";
    node.connect(hello);
    return node.node().members().find(uuid(5))->slot.has_value();
  };
  const auto is_voter_after_list = [](Rule broken) {
    const Breaking rule(broken);
    GuardHarness node;
    node.follow(5, 1);
    node.disconnect(4, LinkEvidence::kClosed);
    MemberView list{.version = {1, 9}, .entries = {member_entry(4), member_entry(5)}};
    list.entries[0].name = "stranger";
    node.receive(5, 1, MembersFrame{std::make_shared<const MemberView>(list)});
    return node.node().members().find(uuid(4))->slot.has_value();
  };
  BOOST_TEST(is_voter_after_hello(Rule::kNone));
  BOOST_TEST(!is_voter_after_hello(Rule::kIdOfAVoter));
  BOOST_TEST(is_voter_after_list(Rule::kNone));
  BOOST_TEST(!is_voter_after_list(Rule::kIdOfAVoter));
}

// One that is too short has a scenario; none can be set there that is too long.
BOOST_AUTO_TEST_CASE(a_lease_that_is_too_long_has_a_vote_and_a_promise_without_the_rule) {
  const auto promised = [](Rule broken) {
    const Breaking rule(broken);
    GuardHarness node;
    node.join();
    const Terms terms = node.terms(kMaxLease + milliseconds(1));
    node.receive(5, 1, Coordinator{.sequence = 1, .terms = terms});
    node.disk_has_it();
    const auto ack = find_sent<HeartbeatAck>(node.receive_beat(5, 1, terms.lease));
    return ack ? ack->promised_epoch : 0;
  };
  BOOST_TEST(promised(Rule::kNone) == 0u);
  BOOST_TEST(promised(Rule::kLawfulLease) == 1u);
}

// --- the simulator ---

BOOST_AUTO_TEST_CASE(a_broken_invariant_fails_the_scenario) {
  const Breaking rule(Rule::kFlagOffBeforeRelease);
  const ScenarioResult result = run_scenario(
      parse_scenario("story.txt", "nodes 1..3\nstart 1..3\nsettle\nstep_down 3\nexpect leader 2\n"),
      {.plugin = &bellwether_election_plugin, .trace = nullptr});
  BOOST_TEST(result.failure ==
             "story.txt:4: expected every invariant to hold; "
             "found: node 3 released an epoch while the flag was on");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
