// What applications say of themselves by the API: that they are there, and what they are worth.
#include <boost/test/unit_test.hpp>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using api::EventStreams;
using Query = std::map<std::string, std::string>;

struct ApplicationFixture : ApiFixture {
  Answered attach(const Query& query = {}) {
    return request({.method = "POST",
                    .path = "/v1/application/attach",
                    .query = query,
                    .headers = {{"Host", "localhost"}}});
  }
  Answered score(const std::string& body) {
    return request({.method = "PUT",
                    .path = "/v1/application/score",
                    .headers = {{"Host", "localhost"}},
                    .body = body});
  }
  Answered drained(const Query& query, const std::string& body) {
    return request({.method = "POST",
                    .path = "/v1/application/drained",
                    .query = query,
                    .headers = {{"Host", "localhost"}},
                    .body = body});
  }
  // Its application has 10 s.
  void let_finish() {
    Options options = node.node().options();
    options.drain_timeout = seconds(10);
    step(node.step(Reconfigure{options}));
    step(node.step(Application{.is_attached = true}));
  }
  // This node, which leads, is to step down.
  void drain() {
    let_finish();
    step(node.step(StepDown{}));
  }
  void lead_and_drain() {
    lead();
    drain();
  }
  std::vector<std::string> attached() const {
    return api::names_of(backend.application_state.attached);
  }
  // Of the one that has attached last.
  std::string id() const { return std::to_string(backend.application_state.attached.back().id); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(api_application, ApplicationFixture)

BOOST_AUTO_TEST_CASE(an_attachment_is_a_stream_and_known_by_its_name) {
  const Answered answer = attach({{"name", "worker"}, {"score", "-42"}});
  BOOST_TEST(answer->stream_type == "text/event-stream");
  BOOST_TEST(answer->take() ==
             "event: attached\ndata: {\"name\":\"worker\",\"node\":\"node-3\",\"score\":-42,"
             "\"attachment\":" +
                 id() +
                 "}\n\n"
                 "event: follow\ndata: {\"epoch\":0,\"leader\":null}\n\n");
  BOOST_TEST((attached() == std::vector<std::string>{"worker"}));
  BOOST_TEST((backend.scores == std::vector<int64_t>{-42}));
}

BOOST_AUTO_TEST_CASE(without_a_score_it_is_told_the_one_that_is_in_force) {
  backend.application_state.worth.score = 42;
  BOOST_TEST(attach()->take().find("\"score\":42,") != std::string::npos);
  BOOST_TEST(attach({{"score", "7"}})->take().find("\"score\":7,") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(its_end_is_known_at_once) {
  const Answered first = attach({{"name", "a"}});
  attach({{"name", "b"}});
  first->is_client_gone = true;
  routes.on_gone();
  BOOST_TEST((attached() == std::vector<std::string>{"b"}));
}

BOOST_AUTO_TEST_CASE(it_is_told_when_this_node_leads_and_when_it_does_not) {
  const Answered answer = attach();
  answer->take();
  lead();
  BOOST_TEST(answer->take() == "event: lead\ndata: {\"epoch\":1}\n\n");
  step(node.step(StepDown{}));
  BOOST_TEST(answer->take().starts_with("event: follow\n"));
}

// --- it is asked to finish ---

BOOST_AUTO_TEST_CASE(a_leader_that_is_to_hand_over_tells_it_so) {
  const Answered answer = attach();
  const std::string first = id();
  const Answered other = attach();
  lead();
  answer->take();
  drain();
  const std::string event = answer->take();
  BOOST_TEST(
      event.starts_with("event: drain\ndata: {\"epoch\":1,\"drain\":1,\"reason\":"
                        "\"step_down\",\"successor\":\"node-2\",\"since\":"));
  BOOST_TEST(event.ends_with("\"left_ms\":10000,\"attachment\":" + first + "}\n\n"));
  BOOST_TEST(first != id());
  BOOST_TEST(other->take().ends_with("\"attachment\":" + id() + "}\n\n"));
  step(node.step(Drained{1}));
  BOOST_TEST(answer->take().starts_with("event: follow\n"));
}

// It has begun nothing, and cannot begin: nobody waits for its word.
BOOST_AUTO_TEST_CASE(who_comes_while_others_finish_follows) {
  lead_and_drain();
  const Answered answer = attach();
  const std::string told = answer->take();
  BOOST_TEST(told.ends_with("\n\nevent: follow\ndata: {\"epoch\":1,\"leader\":null}\n\n"));
  step(node.step(Drained{1}));
  BOOST_TEST(answer->take().starts_with("event: follow\n"));
}

// One epoch may see more than one, where the leader stays as nobody is there to take over.
BOOST_AUTO_TEST_CASE(each_drain_has_its_number) {
  lead();
  let_finish();
  for (const uint32_t successor : {1u, 2u}) {
    step(node.step(Transfer{uuid(successor)}));
    const auto draining = get("/v1/leader")->json()["draining"];
    BOOST_TEST(draining["epoch"] == 1);
    BOOST_TEST(draining["drain"] == successor);
    BOOST_TEST(get("/v1/status")->json()["application"]["draining"]["drain"] == successor);
    step(node.disconnect(successor, LinkEvidence::kRefused));
    BOOST_TEST(!get("/v1/leader")->json().contains("draining"));
  }
}

BOOST_AUTO_TEST_CASE(everybody_else_hears_of_it_as_of_any_change) {
  lead();
  const uint64_t index = feed.current().index;
  const WallTime since = feed.current().since;
  drain();
  BOOST_TEST(feed.current().is_draining);
  BOOST_TEST(feed.current().index == index + 1);
  BOOST_TEST((feed.current().since == since));
  BOOST_TEST(get("/v1/leader")->json()["draining"]["left_ms"] == 10000);
  step(node.step(Drained{1}));
  BOOST_TEST(!get("/v1/leader")->json().contains("draining"));
}

BOOST_AUTO_TEST_CASE(status_says_for_whom_it_waits) {
  BOOST_TEST(get("/v1/status")->json()["application"]["draining"].is_null());
  lead_and_drain();
  backend.application_state.waiting_for = {{.id = 1, .name = "worker"}};
  const auto draining = get("/v1/status")->json()["application"]["draining"];
  BOOST_TEST(draining["waiting_for"].dump() == R"(["worker"])");
  BOOST_TEST(draining["reason"] == "step_down");
}

BOOST_AUTO_TEST_CASE(its_word_is_taken_for_what_it_names) {
  BOOST_TEST(drained({{"name", "worker"}}, R"({"epoch":7})")->status() == 200u);
  BOOST_TEST(drained({}, R"({"epoch":8})")->json()["epoch"] == 8);
  drained({{"name", "worker"}}, R"({"epoch":7,"attachment":4711})");
  drained({{"name", "worker"}}, R"({"epoch":7,"drain":2,"attachment":4711})");
  BOOST_TEST((backend.finished == std::vector<std::string>{"worker in 7", "application in 8",
                                                           "worker in 7 as 4711",
                                                           "worker in 7/2 as 4711"}));
}

BOOST_AUTO_TEST_CASE(a_word_that_nobody_waits_for_is_said_to_be_one) {
  backend.drain_word = api::DrainWord::kNotAsked;
  BOOST_TEST(drained({}, R"({"epoch":7})")->status() == 409u);
  lead_and_drain();
  backend.drain_word = api::DrainWord::kOtherEpoch;
  const Answered other = drained({}, R"({"epoch":7})");
  BOOST_TEST(other->status() == 409u);
  BOOST_TEST(other->error() == "the application is asked to finish in epoch 1, not in 7");
  backend.drain_word = api::DrainWord::kOtherDrain;
  const Answered earlier = drained({}, R"({"epoch":1,"drain":3})");
  BOOST_TEST(earlier->status() == 409u);
  BOOST_TEST(earlier->error() == "the application is asked to finish in drain 1, not in 3");
  backend.drain_word = api::DrainWord::kUnknown;
  BOOST_TEST(drained({{"name", "x"}}, R"({"epoch":1})")->status() == 404u);
  BOOST_TEST(drained({}, R"({"epoch":1,"attachment":7})")->error() ==
             "attachment 7 was not asked to finish");
  backend.drain_word = api::DrainWord::kAmbiguous;
  const Answered ambiguous = drained({{"name", "x"}}, R"({"epoch":1})");
  BOOST_TEST(ambiguous->status() == 409u);
  BOOST_TEST(ambiguous->error() ==
             "more than one application was attached as \"x\"; give \"attachment\" as its event "
             "\"drain\" has it");
}

BOOST_AUTO_TEST_CASE(a_word_without_an_epoch_is_refused) {
  for (const char* bad : {"", "7", "{}", R"({"epoch":"7"})", R"({"epoch":-1})", R"({"epoch":1.5})",
                          R"({"epoch":7,"more":1})", R"({"epoch":7,"attachment":"1"})",
                          R"({"epoch":7,"attachment":-1})", R"({"epoch":7,"drain":"1"})",
                          R"({"epoch":7,"drain":-1})"}) {
    BOOST_TEST_CONTEXT(bad) { BOOST_TEST(drained({}, bad)->status() == 400u); }
  }
  BOOST_TEST(drained({{"name", "a b"}}, R"({"epoch":7})")->status() == 400u);
  BOOST_TEST(backend.finished.empty());
}

BOOST_AUTO_TEST_CASE(a_comment_comes_every_15_seconds) {
  const Answered answer = attach();
  answer->take();
  BOOST_TEST((routes.deadline() == backend.now() + seconds(15)));
  node.pass(seconds(15));
  routes.on_time();
  BOOST_TEST(answer->take() == ":\n\n");
}

BOOST_AUTO_TEST_CASE(nothing_fills_the_unix_socket_of_one_that_only_holds_it_open) {
  const Answered answer = request({.method = "POST",
                                   .path = "/v1/application/attach",
                                   .headers = {{"Host", "localhost"}},
                                   .client = {.process = io::PeerProcess{}}});
  answer->take();
  node.pass(seconds(15));
  routes.on_time();
  BOOST_TEST(answer->take() == "");
}

BOOST_AUTO_TEST_CASE(a_name_or_score_that_is_none_is_refused) {
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a/b"),
                                 std::string("\xc3\xa9"), std::string(65, 'x')}) {
    BOOST_TEST_CONTEXT(bad) { BOOST_TEST(attach({{"name", bad}})->status() == 400u); }
  }
  for (const char* bad : {"", "1.5", "x", "9007199254740992", "-9007199254740992"}) {
    BOOST_TEST_CONTEXT(bad) { BOOST_TEST(attach({{"score", bad}})->status() == 400u); }
  }
  BOOST_TEST(attached().empty());
  BOOST_TEST(backend.scores.empty());
}

BOOST_AUTO_TEST_CASE(the_33rd_is_refused_and_counted) {
  for (size_t i = 0; i < EventStreams::kMaxAttachments; ++i) attach();
  const Answered answer = attach();
  BOOST_TEST(answer->status() == 503u);
  BOOST_TEST(answer->header("Retry-After") == "1");
  BOOST_TEST((limits == std::vector<Limit>{Limit::kAttachments}));
  BOOST_TEST(attached().size() == EventStreams::kMaxAttachments);
}

BOOST_AUTO_TEST_CASE(attaching_is_a_command) {
  attach();
  score(R"({"score":1})");
  BOOST_REQUIRE(asked.size() == 2u);
  BOOST_TEST(asked[0].starts_with("attach by "));
  BOOST_TEST(asked[1].starts_with("score by "));
}

BOOST_AUTO_TEST_CASE(a_score_is_a_whole_number) {
  BOOST_TEST(score(R"({"score":-9007199254740991})")->status() == 200u);
  BOOST_TEST((backend.scores == std::vector<int64_t>{-9007199254740991}));
  for (const char* bad : {"", "7", "{}", R"({"score":"7"})", R"({"score":1.0})",
                          R"({"score":null})", R"({"score":9007199254740992})",
                          R"({"score":99999999999999999999})", R"({"score":1,"more":1})"}) {
    BOOST_TEST_CONTEXT(bad) { BOOST_TEST(score(bad)->status() == 400u); }
  }
  BOOST_TEST(backend.scores.size() == 1u);
  BOOST_TEST(score(R"({"score":1,"more":1})")->error() ==
             R"(the body has no use for "more"; it takes "score")");
  BOOST_TEST(
      score(R"({"score":"7"})")->error() ==
      R"(the body is {"score": 42}; a score is a whole number from -(2^53 - 1) to 2^53 - 1)");
}

BOOST_AUTO_TEST_CASE(too_many_scores_a_second_are_refused_and_counted) {
  for (int i = 0; i < api::ScoreBudget::kPerSecond; ++i) score(R"({"score":1})");
  BOOST_TEST(score(R"({"score":2})")->status() == 429u);
  BOOST_TEST((limits == std::vector<Limit>{Limit::kScoreChanges}));
  node.pass(seconds(1));
  BOOST_TEST(score(R"({"score":3})")->status() == 200u);
}

BOOST_AUTO_TEST_CASE(whoever_tells_too_many_scores_keeps_nobody_from_attaching_with_one) {
  for (int i = 0; i <= api::ScoreBudget::kPerSecond; ++i) score(R"({"score":1})");
  attach({{"score", "2"}});
  BOOST_TEST(attached().size() == 1u);
  BOOST_TEST(backend.scores.back() == 2);
}

BOOST_AUTO_TEST_CASE(too_many_that_attach_with_a_score_are_refused_and_counted) {
  for (int i = 0; i < api::ScoreBudget::kPerSecond; ++i) {
    attach({{"score", "1"}})->is_client_gone = true;
    routes.on_gone();
  }
  BOOST_TEST(attach({{"score", "2"}})->status() == 429u);
  BOOST_TEST((limits == std::vector<Limit>{Limit::kScoreChanges}));
  BOOST_TEST(attached().empty());
  BOOST_TEST(backend.scores.back() == 1);
  attach();
  BOOST_TEST(attached().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
