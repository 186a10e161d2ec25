// What the node makes of a plugin that does strange things: a claim that is refused, claims without
// end, a broken contract.  A node whose plugin has failed leads no longer and says nothing more.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"
#include "scripted_plugin.hh"

namespace bellwether::tests {
namespace {

// A started node whose plugin does what `script` says.
struct Scripted : NodeHarness {
  explicit Scripted(Script script, const NodeSetup& setup = {})
      : NodeHarness(with(std::move(script), setup)) {
    join();
  }
  static NodeSetup with(Script script, NodeSetup setup) {
    set_script(std::move(script));
    setup.plugin = &scripted_plugin();
    return setup;
  }
};

// Claims whenever an election is asked for.
void claim_on_elect(const election_event& event, ScriptedAnswer& answer) {
  if (event.type == ELECTION_EVENT_ELECT) answer.claim();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_plugin)

BOOST_AUTO_TEST_CASE(a_claim_is_effective_when_it_is_announced) {
  Scripted node(claim_on_elect);
  const Effects effects = node.step(Elect{});
  BOOST_TEST(
      everything(effects) ==
      "done, store 1, leads in 1, "
      "COORDINATOR to 1, COORDINATOR to 2, COORDINATOR to 4, COORDINATOR to 5, store members");
}

BOOST_AUTO_TEST_CASE(those_the_election_found_silent_get_no_coordinator) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_ELECT) answer.claim({event.members[1].id});
  });
  BOOST_TEST(sent(node.step(Elect{})) == "COORDINATOR to 1, COORDINATOR to 4, COORDINATOR to 5");
}

BOOST_AUTO_TEST_CASE(suspected_members_get_no_coordinator) {
  Scripted node(claim_on_elect);
  node.disconnect(1, LinkEvidence::kTimeout);
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST(sent(node.step(Elect{})) == "COORDINATOR to 2, COORDINATOR to 4");
}

BOOST_AUTO_TEST_CASE(a_claim_comes_after_the_messages_of_its_step) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type != ELECTION_EVENT_ELECT) return;
    answer.claim();
    answer.send(0, ELECTION_MESSAGE_FIRST_PRIVATE);
  });
  BOOST_TEST(sent(node.step(Elect{})).starts_with("PRIVATE to 1, COORDINATOR to 1, "));
}

BOOST_AUTO_TEST_CASE(the_plugin_is_told_that_its_claim_is_effective) {
  uint32_t reason = ELECTION_REASON_NONE;
  uint32_t leader = ELECTION_NOBODY;
  Scripted node([&](const election_event& event, ScriptedAnswer& answer) {
    claim_on_elect(event, answer);
    if (event.type == ELECTION_EVENT_LEADER) reason = event.reason;
    leader = event.leader;
  });
  node.step(Elect{});
  BOOST_TEST(reason == uint32_t{ELECTION_REASON_CLAIMED});
  BOOST_TEST(leader == 2u);
}

BOOST_AUTO_TEST_CASE(the_plugin_is_told_that_its_claim_was_refused) {
  uint32_t reason = ELECTION_REASON_NONE;
  Scripted node(
      [&](const election_event& event, ScriptedAnswer& answer) {
        if (event.type == ELECTION_EVENT_MESSAGE) answer.claim();
        if (event.type == ELECTION_EVENT_LEADER) reason = event.reason;
      },
      {.priority = 0});
  node.receive(1, 0, ElectionFrame{.kind = ELECTION_MESSAGE_FIRST_PRIVATE});
  BOOST_TEST(reason == uint32_t{ELECTION_REASON_CLAIM_REFUSED});
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_message_reaches_the_plugin_with_all_that_was_sent) {
  election_event seen{};
  uint32_t id_count = 0;
  Scripted node([&](const election_event& event, ScriptedAnswer&) {
    if (event.type != ELECTION_EVENT_MESSAGE) return;
    seen = event;
    id_count = event.message.id_count;
    BOOST_TEST((to_uuid(event.message.ids[1]) == uuid(9)));
  });
  node.receive(2, 0,
               ElectionFrame{.kind = 20,
                             .flags = 3,
                             .round = 77,
                             .ids = {to_election_id(uuid(8)), to_election_id(uuid(9))}});
  BOOST_TEST(seen.message.kind == 20u);
  BOOST_TEST(seen.message.flags == 3u);
  BOOST_TEST(seen.message.round == 77u);
  BOOST_TEST(seen.from == 1u);
  BOOST_TEST(seen.self == 2u);
  BOOST_TEST(seen.member_count == 5u);
  BOOST_TEST(id_count == 2u);
}

BOOST_AUTO_TEST_CASE(the_plugins_deadline_is_a_timer_of_the_node) {
  int timeouts = 0;
  Scripted node([&](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_TIMEOUT) ++timeouts;
    if (event.type == ELECTION_EVENT_ELECT) answer.deadline_ns = event.now_ns + 1000;
  });
  node.step(Elect{});
  node.run_for(std::chrono::microseconds(1));
  BOOST_TEST(timeouts == 1);
  node.run_for(milliseconds(400));
  BOOST_TEST(timeouts == 1);
}

// --- plugins that fail ---

BOOST_AUTO_TEST_CASE(a_plugin_that_makes_no_instance_fails_the_node_at_its_start) {
  NodeHarness node({.options = {.variant = "no such variant"}});
  BOOST_TEST(everything(node.step(Start{})) ==
             "failed: plugin made no instance of variant no such variant");
}

BOOST_AUTO_TEST_CASE(a_plugin_that_fails_ends_the_node) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_ELECT) answer.result = -5;
  });
  BOOST_TEST(everything(node.step(Elect{})) == "done, failed: plugin failed in step with -5");
}

BOOST_AUTO_TEST_CASE(when_the_plugin_of_a_leader_fails_the_flag_goes_off_first) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    claim_on_elect(event, answer);
    if (event.type == ELECTION_EVENT_MESSAGE) answer.result = -1;
  });
  node.step(Elect{});
  const Effects effects =
      node.receive(1, 1, ElectionFrame{.kind = ELECTION_MESSAGE_FIRST_PRIVATE}, 1);
  BOOST_TEST(everything(effects) == "no leader, failed: plugin failed in step with -1");
}

BOOST_AUTO_TEST_CASE(a_plugin_that_breaks_its_contract_ends_the_node) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_ELECT) answer.add(99);
  });
  BOOST_TEST(everything(node.step(Elect{})) == "done, failed: plugin asked for unknown action 99");
}

BOOST_AUTO_TEST_CASE(a_plugin_that_claims_in_answer_to_its_own_claim_is_stopped) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_ELECT || event.type == ELECTION_EVENT_LEADER) answer.claim();
  });
  node.stop_judging();
  const Effects effects = node.step(Elect{});
  BOOST_TEST(everything(effects).ends_with("no leader, failed: plugin claims without end"));
}

BOOST_AUTO_TEST_CASE(nothing_comes_out_of_a_node_whose_plugin_has_failed) {
  Scripted node([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_ELECT) answer.result = -1;
  });
  node.step(Elect{});
  node.pass(seconds(10));
  BOOST_TEST(node.tick().empty());
  BOOST_TEST(node.receive(5, 9, Coordinator{}).empty());
  BOOST_TEST(node.connect(6).empty());
  BOOST_TEST(node.step(LeaveGroup{}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
