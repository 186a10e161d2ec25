// How a leader is asked to hand over, and what came of it.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api/waiting_clients.hh"
#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

struct HandoverFixture : ApiFixture {
  // Leads over 1, 2 and 4, of which 4 may not lead; 5 is not there.
  void lead_group() {
    lead();
    step(node.disconnect(5, LinkEvidence::kRefused));
  }
  // ... and its application has 10 s to finish.
  void lead_with_application() {
    lead_group();
    Options options = node.node().options();
    options.drain_timeout = 10s;
    step(node.step(Reconfigure{options}));
    step(node.step(Application{.is_attached = true}));
  }
  void finish_drain() { step(node.step(Drained{node.node().drain()->number})); }
  void lose(std::initializer_list<uint32_t> peers) {
    for (const uint32_t peer : peers) step(node.disconnect(peer, LinkEvidence::kRefused));
  }
  void announce(uint32_t leader, uint64_t epoch = 2) {
    step(node.receive(leader, epoch, Coordinator{}));
  }
  void pass(Duration duration) {
    node.pass(duration);
    routes.on_time();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(handover, HandoverFixture)

BOOST_AUTO_TEST_CASE(a_leader_steps_down_and_stays_out_for_the_hold) {
  lead_group();
  const auto answer = post("/v1/step-down?wait=10s", R"({"hold":"45s"})");
  BOOST_TEST(!node.node().is_leading());
  BOOST_TEST((node.wait_of(Timer::kHold) == 45s));
  BOOST_TEST(!answer->response.has_value());
  announce(2);
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->body == "{\"result\":\"stepped down\",\"hold\":\"45s\"}\n");
}

BOOST_AUTO_TEST_CASE(a_hold_may_be_plain_seconds_or_none) {
  lead_group();
  BOOST_TEST(post("/v1/step-down", R"({"hold":"20"})")->json()["hold"] == "20s");
  BOOST_TEST((node.wait_of(Timer::kHold) == 20s));
}

BOOST_AUTO_TEST_CASE(who_does_not_say_how_long_is_held_for_thirty_seconds) {
  for (const char* body : {"", " \r\n", "{}"}) {
    ApiFixture fresh;
    fresh.lead();
    BOOST_TEST(fresh.post("/v1/step-down", body)->status() == 202u);
    BOOST_TEST((fresh.node.wait_of(Timer::kHold) == 30s));
  }
}

BOOST_AUTO_TEST_CASE(a_hold_that_is_no_duration_or_too_long_is_a_bad_request) {
  lead_group();
  for (const char* hold : {"\"\"", "\"soon\"", "\"-1s\"", "\"25h\"", "\"86401\""}) {
    const auto answer = post("/v1/step-down", "{\"hold\":" + std::string(hold) + "}");
    BOOST_TEST(answer->status() == 400u, hold);
    BOOST_TEST(answer->error() == "hold is a duration such as 30s, at most 24h");
  }
  BOOST_TEST(node.node().is_leading());
  BOOST_TEST(post("/v1/step-down", R"({"hold":"24h"})")->status() == 202u);
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_cannot_step_down_and_says_who_does) {
  node.join();
  const auto nobody = post("/v1/step-down");
  BOOST_TEST(nobody->status() == 409u);
  BOOST_TEST(nobody->error() ==
             "this node does not lead; no leader is known: see `bellwether status`");
  follow();
  BOOST_TEST(post("/v1/step-down")->error() ==
             "this node does not lead; node-5 does: give the command there");
  BOOST_TEST(answered.back() == "/v1/step-down 409");
}

BOOST_AUTO_TEST_CASE(the_last_that_may_lead_does_not_step_down) {
  lead_group();
  for (const uint32_t peer : {1u, 2u, 3u, 5u}) node.disconnect(peer, LinkEvidence::kRefused);
  const auto answer = post("/v1/step-down");
  BOOST_TEST(answer->status() == 409u);
  BOOST_TEST(answer->error().starts_with("nobody else may lead now"));
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_leader_hands_over_to_a_named_member) {
  lead_group();
  const auto answer = post("/v1/transfer?wait=10s", R"({"to":"node-1"})");
  BOOST_TEST(!node.node().is_leading());
  BOOST_TEST(!answer->response.has_value());
  announce(1);
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->body == "{\"result\":\"handed over\",\"to\":\"node-1\"}\n");
}

BOOST_AUTO_TEST_CASE(a_transfer_to_nobody_known_is_404) {
  lead_group();
  const auto answer = post("/v1/transfer", R"({"to":"node-9"})");
  BOOST_TEST(answer->status() == 404u);
  BOOST_TEST(answer->error() == "there is no member of this name");
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_transfer_to_who_cannot_take_over_is_412) {
  lead_group();
  for (const char* name : {"node-3", "node-4", "node-5"}) {
    const auto answer = post("/v1/transfer", "{\"to\":\"" + std::string(name) + "\"}");
    BOOST_TEST(answer->status() == 412u, name);
    BOOST_TEST(answer->error() ==
               "that member cannot take over now; `bellwether explain` says why");
  }
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_cannot_hand_over_whoever_is_named) {
  follow();
  BOOST_TEST(post("/v1/transfer", R"({"to":"node-1"})")->status() == 409u);
  BOOST_TEST(post("/v1/transfer", R"({"to":"node-9"})")->status() == 409u);
}

BOOST_AUTO_TEST_CASE(of_two_members_of_a_name_the_living_one_is_meant) {
  lead_group();
  step(node.disconnect(1, LinkEvidence::kRefused));
  Hello reborn = NodeHarness::hello_of(0);
  reborn.self.name = "node-1";
  step(node.connect(reborn));
  BOOST_TEST(post("/v1/transfer", R"({"to":"node-1"})")->status() == 202u);
}

BOOST_AUTO_TEST_CASE(a_transfer_must_say_to_whom) {
  lead_group();
  for (const char* body : {"", "{}"}) {
    const auto answer = post("/v1/transfer", body);
    BOOST_TEST(answer->status() == 400u);
    BOOST_TEST(answer->error() == "the body lacks \"to\", a member's name");
  }
}

BOOST_AUTO_TEST_CASE(a_step_down_is_not_done_before_the_application_has_finished) {
  lead_with_application();
  const auto first = post("/v1/step-down");
  const auto waiting = post("/v1/step-down?wait=30s");
  BOOST_TEST(first->status() == 202u);
  BOOST_TEST(first->response->body == "{\"result\":\"stepping down\",\"hold\":\"30s\"}\n");
  BOOST_TEST(!waiting->response.has_value());
  BOOST_TEST(node.node().is_leading());
  finish_drain();
  BOOST_TEST(!waiting->response.has_value());
  announce(2);
  BOOST_TEST(waiting->status() == 200u);
  BOOST_TEST(waiting->response->body == "{\"result\":\"stepped down\",\"hold\":\"30s\"}\n");
  const std::vector<std::string> both{"/v1/step-down 202", "/v1/step-down 200"};
  BOOST_TEST(answered == both, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_step_down_that_is_called_off_was_not_done) {
  lead_with_application();
  const auto waiting = post("/v1/step-down?wait=30s");
  lose({1, 2});
  BOOST_TEST(waiting->status() == 409u);
  BOOST_TEST(waiting->error() == "nobody has taken over: this node leads");
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_transfer_whose_target_is_gone_was_not_done) {
  lead_with_application();
  const auto waiting = post("/v1/transfer?wait=30s", R"({"to":"node-1"})");
  lose({1});
  BOOST_TEST(waiting->status() == 409u);
  BOOST_TEST(waiting->error() == "node-1 has not taken over: this node leads");
}

// Nobody takes the place, and an election gives it back to this node, which is not held.
BOOST_AUTO_TEST_CASE(a_hand_over_after_which_this_node_leads_again_was_not_done) {
  for (const char* path : {"/v1/step-down?wait=60s", "/v1/transfer?wait=60s"}) {
    ApiFixture fresh;
    fresh.lead();
    const bool is_transfer = path[4] == 't';
    const auto waiting = fresh.post(path, is_transfer ? R"({"to":"node-1"})" : R"({"hold":"0s"})");
    BOOST_TEST(!fresh.node.node().is_leading());
    for (int second = 0; second < 30 && !waiting->response; ++second) fresh.run_for(1s);
    BOOST_TEST(fresh.node.node().is_leading());
    BOOST_TEST(waiting->status() == 409u);
    BOOST_TEST(waiting->error() == (is_transfer ? "node-1 has not taken over: this node leads"
                                                : "nobody has taken over: this node leads"));
  }
}

BOOST_AUTO_TEST_CASE(a_transfer_by_which_another_leads_was_not_done) {
  lead_group();
  const auto waiting = post("/v1/transfer?wait=30s", R"({"to":"node-1"})");
  lose({1});
  BOOST_TEST(!waiting->response.has_value());
  announce(2);
  BOOST_TEST(waiting->status() == 409u);
  BOOST_TEST(waiting->error() == "node-1 has not taken over: node-2 leads");
}

BOOST_AUTO_TEST_CASE(a_transfer_that_another_command_has_replaced_was_not_done) {
  lead_with_application();
  const auto first = post("/v1/transfer?wait=30s", R"({"to":"node-1"})");
  const auto second = post("/v1/transfer?wait=30s", R"({"to":"node-2"})");
  BOOST_TEST(first->status() == 409u);
  BOOST_TEST(first->error() == "node-1 has not taken over: this node leads");
  finish_drain();
  announce(2);
  BOOST_TEST(second->status() == 200u);
}

BOOST_AUTO_TEST_CASE(who_waits_hears_of_the_successor_of_a_leader_that_leaves_meanwhile) {
  lead_with_application();
  const auto waiting = post("/v1/transfer?wait=30s", R"({"to":"node-1"})");
  step(node.step(LeaveGroup{}));
  finish_drain();
  BOOST_TEST(!waiting->response.has_value());
  announce(1);
  BOOST_TEST(node.node().has_left());
  BOOST_TEST(waiting->status() == 200u);
}

BOOST_AUTO_TEST_CASE(at_the_end_of_the_process_whoever_waits_is_answered) {
  lead_with_application();
  const auto command = post("/v1/transfer?wait=30s", R"({"to":"node-1"})");
  const auto poll = get("/v1/leader?wait=30s&index=" + std::to_string(feed.current().index));
  routes.dismiss_waiting();
  BOOST_TEST(command->status() == 202u);
  BOOST_TEST(poll->status() == 200u);
}

BOOST_AUTO_TEST_CASE(who_cannot_wait_longer_hears_that_it_is_under_way) {
  lead_with_application();
  const auto waiting = post("/v1/transfer?wait=5s", R"({"to":"node-1"})");
  BOOST_TEST((routes.deadline() == node.now() + 5s));
  pass(5s - 1ns);
  BOOST_TEST(!waiting->response.has_value());
  pass(1ns);
  BOOST_TEST(waiting->status() == 202u);
  BOOST_TEST(waiting->response->body == "{\"result\":\"handing over\",\"to\":\"node-1\"}\n");
}

BOOST_AUTO_TEST_CASE(what_is_refused_is_so_at_once_however_long_one_would_wait) {
  follow();
  BOOST_TEST(post("/v1/step-down?wait=30s")->status() == 409u);
  BOOST_TEST(post("/v1/transfer?wait=30s", R"({"to":"node-1"})")->status() == 409u);
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_no_duration_is_a_bad_request_and_changes_nothing) {
  lead_group();
  for (const char* path : {"/v1/step-down?wait=soon", "/v1/transfer?wait=-1s"}) {
    const auto answer = post(path, path[4] == 's' ? "" : R"({"to":"node-1"})");
    BOOST_TEST(answer->status() == 400u);
    BOOST_TEST(answer->error() == "wait is a duration, such as 30s or 500ms");
  }
  BOOST_TEST(!node.node().is_handing_over());
}

BOOST_AUTO_TEST_CASE(a_command_is_given_though_too_many_wait_for_what_comes_of_it) {
  lead_with_application();
  std::vector<Answered> waiting;
  while (waiting.size() < api::LongPolls::kMaxWaiting) {
    waiting.push_back(post("/v1/step-down?wait=30s"));
    BOOST_TEST(!waiting.back()->response.has_value());
  }
  BOOST_TEST(post("/v1/transfer?wait=30s", R"({"to":"node-1"})")->status() == 202u);
  BOOST_TEST((limits == std::vector{Limit::kLongPolls}));
  BOOST_TEST((node.node().successor() == uuid(1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
