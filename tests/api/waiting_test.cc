// Long polls and event streams: when they are answered, with what, and how many there may be.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api/waiting_clients.hh"
#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

struct WaitingFixture : ApiFixture {
  void pass(Duration duration) {
    node.pass(duration);
    routes.on_time();
  }
  // The ids of the events that came since the last time: "0.1 1.2".
  static std::string ids(Recorded& stream) {
    std::string ids;
    std::istringstream lines(stream.take());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("id: ")) ids += (ids.empty() ? "" : " ") + line.substr(4);
    }
    return ids;
  }
  Answered stream(const std::string& last_event_id) {
    return get("/v1/events", {{"Last-Event-ID", last_event_id}});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(long_poll, WaitingFixture)

BOOST_AUTO_TEST_CASE(without_an_index_there_is_nothing_to_wait_for) {
  BOOST_TEST(get("/v1/leader?wait=30s")->status() == 200u);
}

BOOST_AUTO_TEST_CASE(an_index_that_is_passed_already_is_answered_at_once) {
  follow();
  const auto answer = get("/v1/leader?index=1&wait=30s");
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->json()["index"] == 2);
}

BOOST_AUTO_TEST_CASE(an_index_of_an_earlier_process_is_answered_at_once) {
  BOOST_TEST(get("/v1/leader?index=57&wait=30s")->status() == 200u);
}

BOOST_AUTO_TEST_CASE(a_change_ends_it) {
  const auto waiting = get("/v1/leader?index=1&wait=30s");
  BOOST_TEST(!waiting->response.has_value());
  BOOST_TEST(answered.empty());
  follow(5, 4);
  BOOST_TEST(waiting->status() == 200u);
  BOOST_TEST(waiting->json()["index"] == 2);
  BOOST_TEST(waiting->json()["leader"]["name"] == "node-5");
  BOOST_TEST(waiting->header("X-Leader-Epoch") == "4");
  BOOST_TEST(answered == std::vector<std::string>{"/v1/leader 200"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_renewal_does_not_end_it) {
  lead();
  const auto waiting = get("/v1/leader?index=2&wait=30s");
  run_for(500ms);
  BOOST_TEST(!waiting->response.has_value());
}

BOOST_AUTO_TEST_CASE(its_time_ends_it_with_what_is_still_so) {
  const auto waiting = get("/v1/leader?index=1&wait=500ms");
  BOOST_TEST((routes.deadline() == node.now() + 500ms));
  pass(500ms - 1ns);
  BOOST_TEST(!waiting->response.has_value());
  pass(1ns);
  BOOST_TEST(waiting->status() == 200u);
  BOOST_TEST(waiting->json()["index"] == 1);
  BOOST_TEST((routes.deadline() == kNever));
}

BOOST_AUTO_TEST_CASE(each_has_a_time_of_its_own) {
  const auto late = get("/v1/leader?index=1&wait=2s");
  const auto early = get("/v1/leader?index=1&wait=1s");
  BOOST_TEST((routes.deadline() == node.now() + 1s));
  pass(1s);
  BOOST_TEST(early->status() == 200u);
  BOOST_TEST(!late->response.has_value());
  pass(1s);
  BOOST_TEST(late->status() == 200u);
}

BOOST_AUTO_TEST_CASE(waiting_times_are_durations_or_plain_seconds) {
  const std::vector<std::pair<std::string, Duration>> waits{
      {"30s", 30s}, {"500ms", 500ms}, {"2m", 2min}, {"7", 7s}};
  for (const auto& [text, wait] : waits) {
    get("/v1/leader?index=1&wait=" + text);
    BOOST_TEST((routes.deadline() == node.now() + wait), text);
    pass(wait);
  }
}

BOOST_AUTO_TEST_CASE(who_does_not_say_how_long_waits_thirty_seconds) {
  get("/v1/leader?index=1");
  BOOST_TEST((routes.deadline() == node.now() + 30s));
}

BOOST_AUTO_TEST_CASE(nobody_waits_longer_than_ten_minutes) {
  for (const char* wait : {"1h", "600001ms", "9000000"}) {
    get("/v1/leader?index=1&wait=" + std::string(wait));
    BOOST_TEST((routes.deadline() == node.now() + 10min), wait);
    pass(10min);
  }
}

BOOST_AUTO_TEST_CASE(waiting_for_no_time_is_answered_at_once) {
  BOOST_TEST(get("/v1/leader?index=1&wait=0")->status() == 200u);
}

BOOST_AUTO_TEST_CASE(what_is_no_index_or_no_duration_is_a_bad_request) {
  for (const char* wait : {"", "x", "-1s", "1.5s", "5 s", "99999999999999999999", "1d"}) {
    const auto answer = get("/v1/leader?index=1&wait=" + std::string(wait));
    BOOST_TEST(answer->status() == 400u, wait);
    BOOST_TEST(answer->error() == "wait is a duration, such as 30s or 500ms");
  }
  for (const char* index : {"", "x", "-1", "1.0", "0x1", " 1", "99999999999999999999"}) {
    const auto answer = get("/v1/leader?wait=1s&index=" + std::string(index));
    BOOST_TEST(answer->status() == 400u, index);
    BOOST_TEST(answer->error() == "index is a whole number");
  }
}

BOOST_AUTO_TEST_CASE(a_client_that_has_gone_is_forgotten_and_not_counted) {
  const auto waiting = get("/v1/leader?index=1&wait=30s");
  waiting->is_client_gone = true;
  routes.on_gone();
  BOOST_TEST((routes.deadline() == kNever));
  follow();
  BOOST_TEST(!waiting->response.has_value());
  BOOST_TEST(answered.empty());
}

BOOST_AUTO_TEST_CASE(only_so_many_wait_and_the_next_is_told_to_come_back) {
  std::vector<Answered> waiting;
  for (size_t i = 0; i < api::LongPolls::kMaxWaiting; ++i) {
    waiting.push_back(get("/v1/leader?index=1&wait=30s"));
  }
  const auto refused = get("/v1/leader?index=1&wait=30s");
  BOOST_TEST(refused->status() == 503u);
  BOOST_TEST(refused->header("Retry-After") == "1");
  BOOST_TEST(refused->error() == "too many clients wait for a change already");
  BOOST_TEST((limits == std::vector{Limit::kLongPolls}));
  BOOST_TEST(get("/v1/leader")->status() == 200u);

  waiting.front()->is_client_gone = true;
  routes.on_gone();
  const auto taken = get("/v1/leader?index=1&wait=30s");
  BOOST_TEST(!taken->response.has_value());
  follow();
  BOOST_TEST(taken->status() == 200u);
  BOOST_TEST(waiting.back()->status() == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(event_stream, WaitingFixture)

BOOST_AUTO_TEST_CASE(begins_with_what_is_so_now) {
  follow(5, 7);
  const auto stream = get("/v1/events");
  BOOST_TEST(stream->stream_type == "text/event-stream");
  const std::string body = get("/v1/leader")->response->body;
  BOOST_TEST(stream->take() == "retry: 1000\n\nevent: leader\nid: 7.2\ndata: " + body + "\n");
  BOOST_TEST(answered.front() == "/v1/events 200");
}

BOOST_AUTO_TEST_CASE(has_another_name) {
  BOOST_TEST(get("/sse")->stream_type == "text/event-stream");
  BOOST_TEST(answered.front() == "/v1/events 200");
}

BOOST_AUTO_TEST_CASE(tells_of_each_change_and_of_nothing_else) {
  const auto stream = get("/v1/events");
  BOOST_TEST(ids(*stream) == "0.1");
  lead();
  BOOST_TEST(ids(*stream) == "1.2");
  run_for(500ms);
  BOOST_TEST(ids(*stream) == "");
  step(node.step(StepDown{.hold = 30s}));
  const std::string text = stream->take();
  BOOST_TEST(
      text.starts_with("event: leader\nid: 1.3\ndata: {\"group\":\"orders\",\"leader\":null"));
  BOOST_TEST(text.ends_with("\"reason\":\"handed over\"}\n\n"));
}

BOOST_AUTO_TEST_CASE(who_comes_back_gets_what_it_missed) {
  follow(5, 1);
  follow(5, 2);
  follow(5, 3);
  BOOST_TEST(ids(*stream("1.2")) == "2.3 3.4");
}

BOOST_AUTO_TEST_CASE(who_comes_back_and_missed_nothing_gets_what_is_so_now) {
  follow(5, 1);
  BOOST_TEST(ids(*stream("1.2")) == "1.2");
}

BOOST_AUTO_TEST_CASE(who_was_away_for_too_long_gets_what_is_so_now) {
  for (uint64_t epoch = 1; epoch <= api::LeadershipFeed::kMaxKept + 3; ++epoch) follow(5, epoch);
  BOOST_TEST(ids(*stream("1.2")) == "259.260");
}

BOOST_AUTO_TEST_CASE(an_id_that_was_not_given_here_gets_what_is_so_now) {
  follow(5, 1);
  follow(5, 2);
  for (const char* id : {"9.2", "1.57", "", "x", "1", "1.", ".2", "1.2.3", "-1.2"}) {
    BOOST_TEST(ids(*stream(id)) == "2.3", id);
  }
}

BOOST_AUTO_TEST_CASE(a_leadership_that_was_missed_is_over) {
  lead();
  step(node.step(StepDown{.hold = 30s}));
  const std::string text = stream("0.1")->take();
  BOOST_TEST(text.find("\"is_leader\":true") == std::string::npos, text);
  BOOST_TEST(text.find("\"name\":\"node-3\"") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_comment_comes_every_fifteen_seconds) {
  const auto stream = get("/v1/events");
  stream->take();
  BOOST_TEST((routes.deadline() == node.now() + 15s));
  pass(15s - 1ns);
  BOOST_TEST(stream->take() == "");
  pass(1ns);
  BOOST_TEST(stream->take() == ":\n\n");
  BOOST_TEST((routes.deadline() == node.now() + 15s));
  pass(15s);
  BOOST_TEST(stream->take() == ":\n\n");
}

BOOST_AUTO_TEST_CASE(a_client_that_has_gone_is_forgotten) {
  const auto gone = get("/v1/events");
  const auto stays = get("/v1/events");
  gone->is_client_gone = true;
  routes.on_gone();
  stays->take();
  follow();
  BOOST_TEST(ids(*stays) == "1.2");
  stays->is_client_gone = true;
  routes.on_gone();
  BOOST_TEST((routes.deadline() == kNever));
}

BOOST_AUTO_TEST_CASE(a_client_whose_stream_cannot_be_written_is_forgotten) {
  const auto gone = get("/v1/events");
  gone->is_client_gone = true;
  follow();
  routes.on_gone();
  BOOST_TEST((routes.deadline() == kNever));
}

BOOST_AUTO_TEST_CASE(only_so_many_follow_and_the_next_is_told_to_come_back) {
  std::vector<Answered> streams;
  for (size_t i = 0; i < api::EventStreams::kMaxFollowers; ++i) streams.push_back(get("/sse"));
  const auto refused = get("/v1/events");
  BOOST_TEST(refused->status() == 503u);
  BOOST_TEST(refused->header("Retry-After") == "1");
  BOOST_TEST((limits == std::vector{Limit::kEventStreams}));
  streams.front()->is_client_gone = true;
  routes.on_gone();
  BOOST_TEST(get("/v1/events")->stream_type == "text/event-stream");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
