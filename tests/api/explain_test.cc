// Each sentence of /v1/explain, in the situation that it is about.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

struct Explained : ApiFixture {
  using ApiFixture::ApiFixture;
  Explained() = default;

  std::string why(uint32_t number) {
    const std::string name = "node-" + std::to_string(number);
    const Json body = get("/v1/explain")->json();
    for (const auto& member : body["members"]) {
      if (member["name"] == name) return member["why"];
    }
    return "no such member";
  }
  void score(int64_t worth) { step(node.step(Application{.score = worth})); }
};

Explained with_options(const Options& options) { return Explained(NodeSetup{.options = options}); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(explain, Explained)

BOOST_AUTO_TEST_CASE(lists_members_by_rank_with_who_leads) {
  follow(4, 7);
  backend.peers[uuid(4)].heard = node.now() - 40ms;
  const Json body = get("/v1/explain")->json();
  BOOST_TEST(body["group"] == "orders");
  BOOST_TEST(body["seen_by"] == "node-3");
  BOOST_TEST(body["leader"] == "node-4");
  BOOST_TEST(body["guard"] == "none");
  BOOST_TEST(body["members"].size() == 5u);
  BOOST_TEST(body["members"][1].dump() ==
             R"({"rank":2,"name":"node-4","id":"00000000-0000-0000-0000-000000000004",)"
             R"("priority":100,"leads":true,)"
             R"("why":"It leads, in epoch 7; last heard 40ms ago."})");
}

BOOST_AUTO_TEST_CASE(the_leader_itself) {
  lead();
  BOOST_TEST(why(3) == "It leads, in epoch 1.");
  BOOST_TEST(why(2) == "It ranks below node-3, which leads.");
  node.pass(800ms);
  BOOST_TEST(why(3) == "It leads, in epoch 1; but it did not get to renew, so its flag is off.");
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_not_heard_yet) {
  follow();
  BOOST_TEST(why(5) == "It leads, in epoch 1.");
}

BOOST_AUTO_TEST_CASE(who_is_not_there) {
  follow();
  step(node.disconnect(1, LinkEvidence::kRefused));
  step(node.disconnect(2, LinkEvidence::kTimeout));
  step(node.receive(4, 1, Leave{.boot = 1}));
  node.pass(3500ms);
  BOOST_TEST(why(1) == "It is down: its host refuses connections, for 3s.");
  BOOST_TEST(why(2) == "It is suspected: silent, or not connected, for 3s.");
  BOOST_TEST(why(4) == "It has left the group.");
  node.pass(10min);
  BOOST_TEST(why(1) == "It is down: its host refuses connections, for 10m.");
}

BOOST_AUTO_TEST_CASE(who_may_not_lead) {
  lead();  // 4 and 5 said so
  BOOST_TEST(why(5) ==
             "It says that it may not lead now: it stepped down, has just started, or leaves; "
             "`bellwether explain` at node-5 says which.");
  backend.settings.voters = {{"node-3", {}}, {"node-4", {}}, {"node-5", {}}};
  BOOST_TEST(why(5) ==
             "It says that it may not lead now: it stepped down, has just started, leaves, has no "
             "vote, or reaches no majority; `bellwether explain` at node-5 says which.");
  backend.settings.voters.clear();
  Hello hello = NodeHarness::hello_of(1, 1);
  hello.self.priority = 0;
  step(node.connect(hello));
  BOOST_TEST(why(1) == "Its priority is 0, so it never leads.");
}

BOOST_AUTO_TEST_CASE(who_is_no_voter) {
  follow(4);
  backend.settings.voters = {{"node-3", {}}, {"node-4", {}}, {"node-1", {}}};
  BOOST_TEST(why(5) == "It is not a voter, and only voters lead.");
}

BOOST_AUTO_TEST_CASE(whose_application_is_not_able) {
  follow();
  const auto say = [this](uint32_t number, Ability ability) {
    step(node.receive(number, 1, Wish{.boot = 1, .revision = 1, .ability = ability}));
  };
  say(4, Ability::kAbsent);
  BOOST_TEST(why(4) == "No application is attached to it, and it leads only while one is.");
  say(2, Ability::kUnhealthy);
  BOOST_TEST(why(2) == "Its application fails its health checks.");
  step(node.step(Application{.ability = Ability::kUnhealthy}));
  BOOST_TEST(why(3) == "Its application has not passed a health check yet.");
  backend.application_state.health_flaw = "http://127.0.0.1:8080/ answers 503";
  BOOST_TEST(why(3) ==
             "Its application fails its health checks: http://127.0.0.1:8080/ answers 503.");
  step(node.step(Application{.ability = Ability::kAbsent}));
  BOOST_TEST(why(3) == "No application is attached to it, and it leads only while one is.");
}

// 5 leads, and is gone; 1 never leads, whatever its application is.
BOOST_AUTO_TEST_CASE(nobodys_application_is_able) {
  const auto why_nobody = [this] { return get("/v1/explain")->json()["why_nobody_leads"]; };
  follow();
  Hello hello = NodeHarness::hello_of(1, 1);
  hello.self.priority = 0;
  step(node.connect(hello));
  for (const uint32_t number : {2u, 4u}) {
    step(node.receive(number, 1, Wish{.boot = 1, .revision = 1, .ability = Ability::kAbsent}));
  }
  BOOST_TEST(why_nobody().is_null());
  step(node.disconnect(5, LinkEvidence::kRefused));
  BOOST_TEST(why_nobody().is_null());
  step(node.step(Application{.ability = Ability::kUnhealthy}));
  BOOST_TEST(why_nobody() == "Nobody's application is able.");
  BOOST_TEST(get("/v1/status")->json()["why_nobody_leads"] == "nobody's application is able");
  step(node.receive(2, 1, Wish{.boot = 1, .revision = 2, .is_electable = true}));
  BOOST_TEST(why_nobody().is_null());
}

BOOST_AUTO_TEST_CASE(who_stepped_down) {
  lead();
  step(node.step(StepDown{.hold = 30s}));
  step(node.receive(2, 2, Coordinator{}));
  node.pass(4s);
  BOOST_TEST(why(3) == "It stepped down, and stays out for another 26s.");
}

BOOST_AUTO_TEST_CASE(who_hands_over) {
  lead();
  step(node.step(StepDown{}));
  BOOST_TEST(why(3) == "It is handing over, and waits for its successor.");
}

BOOST_AUTO_TEST_CASE(who_waits_for_its_application_to_finish) {
  Options options;
  options.drain_timeout = 10s;
  Explained group = with_options(options);
  group.lead();
  group.step(group.node.step(Application{.is_attached = true}));
  group.step(group.node.step(StepDown{}));
  BOOST_TEST(group.why(3) ==
             "It leads, in epoch 1; it hands over once its application has finished, in 10s at the "
             "latest.");
}

BOOST_AUTO_TEST_CASE(the_leader_that_waits_for_its_application_to_finish) {
  follow();
  const auto is_draining = [this] {
    return get("/v1/members")->json()["members"][0]["is_draining"];
  };
  BOOST_TEST(is_draining() == false);
  step(node.receive(5, 1, Heartbeat{.sequence = 9, .is_draining = true}));
  BOOST_TEST(why(5) == "It leads, in epoch 1; it hands over once its application has finished.");
  BOOST_TEST(is_draining() == true);
  BOOST_TEST(get("/v1/members")->json()["members"][1]["is_draining"] == false);
}

BOOST_AUTO_TEST_CASE(who_leaves) {
  follow();
  step(node.step(LeaveGroup{}));
  BOOST_TEST(why(3) == "It leaves the group.");
}

BOOST_AUTO_TEST_CASE(who_outranks_the_leader_and_will_take_over) {
  Options options;
  options.preempt_delay = 5s;
  Explained group = with_options(options);
  group.follow(2);
  BOOST_TEST(group.why(5) ==
             "It outranks node-2, and is expected to take over (preempt_delay is 5s), unless "
             "node-2 was asked in vain and still refuses.");
  BOOST_TEST(group.why(3) == "It outranks node-2, but node-5 ranks higher still and comes first.");
  for (const uint32_t number : {4u, 5u}) {
    group.step(group.node.disconnect(number, LinkEvidence::kRefused));
  }
  BOOST_TEST(group.why(3) == "It outranks node-2, and takes over in 5s.");
  BOOST_TEST(group.why(1) == "It ranks below node-2, which leads.");
}

BOOST_AUTO_TEST_CASE(who_outranks_a_leader_that_stays) {
  Options never;
  never.preempt = Preempt::kOff;
  Explained group = with_options(never);
  group.follow(2);
  BOOST_TEST(group.why(5) ==
             "It outranks node-2, but preempt = \"never\": a working leader stays.");

  Options priority;
  priority.preempt = Preempt::kPriority;
  Explained other = with_options(priority);
  other.follow(2);
  BOOST_TEST(other.why(5) ==
             "It outranks node-2 by its id only, and preempt = \"priority\": a working leader "
             "stays.");
  other.score(1);
  BOOST_TEST(other.why(3) ==
             "It outranks node-2 by its score only, and preempt = \"priority\": a working leader "
             "stays.");
}

BOOST_AUTO_TEST_CASE(who_outranks_a_leader_by_too_little) {
  Options options;
  options.score_margin = 10;
  Explained group = with_options(options);
  group.follow(2);
  BOOST_TEST(group.why(3) ==
             "It outranks node-2 by its id only, and score_margin is 10: a working leader stays.");
  group.score(10);
  BOOST_TEST(group.why(3) ==
             "It outranks node-2, but its score is ahead by 10 only, and score_margin is 10: a "
             "working leader stays.");
  group.score(11);
  BOOST_TEST(group.why(3).starts_with("It outranks node-2, and takes over in "));
}

BOOST_AUTO_TEST_CASE(who_outranks_a_leader_that_was_asked_in_vain) {
  Options options;
  options.drain_timeout = 10s;
  Explained group = with_options(options);
  group.lead();
  group.step(group.node.step(Application{.is_attached = true}));
  group.step(group.node.receive(5, 1, Canvass{.number = 1, .is_take_over = true}));
  group.step(group.node.disconnect(5, LinkEvidence::kRefused));
  group.step(group.node.connect(5, 1));
  BOOST_TEST(group.why(5) ==
             "It outranks node-3, which was asked for its place in vain, and stays for another "
             "100ms at least.");
  group.node.pass(100ms);
  BOOST_TEST(group.why(5) ==
             "It outranks node-3, and is expected to take over (preempt_delay is 0s).");
}

BOOST_AUTO_TEST_CASE(who_outranks_a_leader_that_an_operator_appointed) {
  node.join();
  step(node.receive(2, 1, Coordinator{.is_appointed = true}));
  BOOST_TEST(why(2) == "It leads, in epoch 1; an operator appointed it.");
  BOOST_TEST(why(5) ==
             "It outranks node-2, but an operator appointed that one, and nobody takes over from "
             "it.");
}

BOOST_AUTO_TEST_CASE(nobody_leads_yet) {
  node.join();
  BOOST_TEST(why(5) == "No leader is known yet: this node has just started and looks for one.");
  BOOST_TEST(get("/v1/explain")->json()["leader"].is_null());
}

BOOST_AUTO_TEST_CASE(nobody_leads_any_more) {
  follow();
  step(node.disconnect(5, LinkEvidence::kRefused));
  BOOST_TEST(why(4) ==
             "There is no leader; it ranks highest of those that may lead, and should win.");
  BOOST_TEST(why(3) == "There is no leader, and node-4 comes first.");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
