// Each limit of HttpLimits: what the client gets, and what is counted.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <thread>

#include "http_harness.hh"
#include "io/loop/timer.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;

constexpr const char* kHead = "POST / HTTP/1.1\r\nHost: here\r\n";

void check_refused(const Harness& harness, unsigned status, Limit limit) {
  BOOST_REQUIRE(harness.refused.size() == 1u);
  BOOST_TEST(harness.refused.front() == status);
  BOOST_REQUIRE(harness.limits_hit.size() == 1u);
  BOOST_TEST((harness.limits_hit.front() == limit));
}

void check_counted(const Harness& harness, unsigned status, Limit limit) {
  check_refused(harness, status, limit);
  BOOST_TEST(harness.requests.empty());
}

// One look at all that has happened, without a wait.
void take_a_turn(Harness& harness) { uv_run(harness.loop.uv(), UV_RUN_NOWAIT); }

// As a process that was stopped, or got no processor: what arrives meanwhile waits in the kernel.
void stand_still_past(Duration limit) { std::this_thread::sleep_for(2 * limit); }

}  // namespace

BOOST_AUTO_TEST_SUITE(server_limits)

BOOST_AUTO_TEST_CASE(a_malformed_request_is_refused_with_a_reason_and_closed) {
  Harness harness;
  const std::string answer = harness.exchange("GET / HTTP/1.1\r\n\r\n");
  BOOST_TEST(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  BOOST_TEST(count(answer, "Connection: close\r\n") == 1u);
  BOOST_TEST(answer.ends_with("\r\n\r\n{\"error\":\"there is no Host header\"}\n"));
  BOOST_REQUIRE(harness.refused.size() == 1u);
  BOOST_TEST(harness.refused.front() == 400u);
  BOOST_TEST(harness.limits_hit.empty());
}

BOOST_AUTO_TEST_CASE(of_two_authorizations_none_is_chosen) {
  Harness harness;
  const std::string answer = harness.exchange(std::string(kHead) +
                                              "Authorization: Bearer a\r\n"
                                              "Authorization: Bearer b\r\n\r\n");
  BOOST_TEST(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  BOOST_TEST(answer.ends_with("{\"error\":\"there is more than one Authorization header\"}\n"));
}

BOOST_AUTO_TEST_CASE(what_precedes_a_malformed_request_is_answered_first) {
  Harness harness;
  const std::string answers = harness.exchange(get("/good") + "nonsense\r\n\r\n" + get("/late"));
  BOOST_TEST(answers.find("GET /good \n") < answers.find("HTTP/1.1 400"));
  BOOST_TEST(count(answers, "HTTP/1.1") == 2u);
}

BOOST_AUTO_TEST_CASE(nothing_is_smuggled_behind_a_doubtful_body) {
  Harness harness;
  const std::string answers = harness.exchange(
      std::string(kHead) + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
      get("/smuggled"));
  BOOST_TEST(answers.starts_with("HTTP/1.1 400 "));
  BOOST_TEST(count(answers, "HTTP/1.1") == 1u);
  BOOST_TEST(harness.requests.empty());
}

BOOST_AUTO_TEST_CASE(a_long_header_is_refused) {
  HttpLimits limits;
  limits.header_bytes = 512;
  Harness harness(limits);
  const std::string answer = harness.exchange(get("/", "X: " + std::string(600, 'x') + "\r\n"));
  BOOST_TEST(answer.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
  check_counted(harness, 431, Limit::kHttpHeader);
}

// The client is still sending when it is refused; a reset would take the answer from it.
BOOST_AUTO_TEST_CASE(a_large_body_is_refused_and_the_client_can_read_why) {
  HttpLimits limits;
  limits.body_bytes = 1000;
  Harness harness(limits);
  RawClient client(harness.port);
  client.send(std::string(kHead) + "Content-Length: 100000\r\n\r\n" + std::string(60'000, 'x'));
  harness.receive(client, "HTTP/1.1 413 Content Too Large\r\n");
  client.send(std::string(40'000, 'x'));
  harness.receive_all(client);
  BOOST_TEST(!client.is_reset());
  check_counted(harness, 413, Limit::kHttpBody);
}

BOOST_AUTO_TEST_CASE(a_large_body_is_not_asked_for) {
  HttpLimits limits;
  limits.body_bytes = 1000;
  Harness harness(limits);
  const std::string answer =
      harness.exchange(std::string(kHead) + "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
  BOOST_TEST(answer.starts_with("HTTP/1.1 413 "));
}

BOOST_AUTO_TEST_CASE(chunks_beyond_the_limit_are_refused) {
  HttpLimits limits;
  limits.body_bytes = 10;
  Harness harness(limits);
  const std::string answer = harness.exchange(
      std::string(kHead) + "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n");
  BOOST_TEST(answer.starts_with("HTTP/1.1 413 "));
  check_counted(harness, 413, Limit::kHttpBody);
}

BOOST_AUTO_TEST_CASE(a_request_that_trickles_in_is_refused_after_its_time) {
  HttpLimits limits;
  limits.request = milliseconds(200);
  Harness harness(limits);
  RawClient client(harness.port);
  const std::string request = get("/" + std::string(1000, 'x'));
  size_t sent = 0;
  const bool has_ended = harness.run_until([&] {
    if (sent < request.size() - 1) client.send_some(request.substr(sent++, 1));
    return client.has_ended();
  });
  BOOST_TEST(has_ended);
  BOOST_TEST(client.received().starts_with("HTTP/1.1 408 Request Timeout\r\n"));
  check_counted(harness, 408, Limit::kHttpIdle);
}

BOOST_AUTO_TEST_CASE(a_body_that_does_not_come_is_refused_after_its_time) {
  HttpLimits limits;
  limits.request = milliseconds(20);
  Harness harness(limits);
  const std::string answer = harness.exchange(std::string(kHead) + "Content-Length: 1\r\n\r\n");
  BOOST_TEST(answer.starts_with("HTTP/1.1 408 "));
  check_counted(harness, 408, Limit::kHttpIdle);
}

BOOST_AUTO_TEST_CASE(who_says_nothing_is_closed_without_an_answer) {
  HttpLimits limits;
  limits.idle = milliseconds(20);
  Harness harness(limits);
  BOOST_TEST(harness.exchange("") == "");
  BOOST_TEST(harness.exchange("\r\n\r\n") == "");
  const std::string answer = harness.exchange(get("/"));
  BOOST_TEST(answer.ends_with("GET / \n"));
  BOOST_TEST(harness.refused.empty());
  BOOST_REQUIRE(harness.limits_hit.size() == 3u);
  BOOST_TEST((harness.limits_hit.front() == Limit::kHttpIdle));
}

BOOST_AUTO_TEST_CASE(whose_request_waits_in_the_kernel_is_not_idle) {
  HttpLimits limits;
  limits.idle = milliseconds(20);
  Harness harness(limits);
  RawClient client(harness.port);
  take_a_turn(harness);  // accepts
  client.send(get("/", "Connection: close\r\n"));
  stand_still_past(limits.idle);
  BOOST_TEST(harness.receive_all(client).ends_with("GET / \n"));
  BOOST_TEST(harness.limits_hit.empty());
}

BOOST_AUTO_TEST_CASE(a_request_whose_rest_waits_in_the_kernel_is_in_time) {
  HttpLimits limits;
  limits.request = milliseconds(20);
  Harness harness(limits);
  RawClient client(harness.port);
  client.send(std::string(kHead) + "Connection: close\r\nContent-Length: 4\r\n\r\n");
  take_a_turn(harness);  // accepts
  take_a_turn(harness);  // reads
  client.send("rest");
  stand_still_past(limits.request);
  BOOST_TEST(harness.receive_all(client).ends_with("POST / rest\n"));
  BOOST_TEST(harness.limits_hit.empty());
}

// The test waits as long as an idle connection would live, twice.
BOOST_AUTO_TEST_CASE(a_request_that_waits_for_its_answer_has_no_time_limit) {
  HttpLimits limits;
  limits.idle = milliseconds(20);
  limits.request = milliseconds(20);
  Harness harness(limits);
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  RawClient client(harness.port);
  client.send(get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  harness.exchange("");
  harness.exchange("");
  harness.requests.front().send({.body = "patience"});
  harness.receive(client, "patience");
}

BOOST_AUTO_TEST_CASE(an_answer_that_nobody_reads_is_given_up) {
  HttpLimits limits;
  limits.idle = milliseconds(50);
  Harness harness(limits);
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.send({.body = std::string(16 << 20, 'x')});
  };
  RawClient client(harness.port, 4096);
  client.send(get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return !harness.limits_hit.empty(); }));
  BOOST_TEST((harness.limits_hit.front() == Limit::kHttpUnsent));
  BOOST_TEST(harness.gone.empty());  // it was answered
  harness.receive_all(client);
  BOOST_TEST(client.received().size() < 16u << 20);
}

BOOST_AUTO_TEST_CASE(who_never_asks_is_closed_sooner_than_who_has_asked) {
  const HttpLimits usual;  // sooner than the third of three probes, 10 s apart, has failed
  BOOST_TEST((usual.first <= std::chrono::seconds(10)));
  BOOST_TEST((usual.first < usual.idle));
  HttpLimits limits;
  limits.first = milliseconds(50);
  Harness harness(limits);
  RawClient asked(harness.port);
  asked.send(get("/"));
  harness.receive(asked, "GET / \n");
  RawClient silent(harness.port);
  BOOST_TEST(harness.receive_all(silent) == "");
  BOOST_REQUIRE(harness.limits_hit.size() == 1u);
  BOOST_TEST((harness.limits_hit.front() == Limit::kHttpIdle));
  BOOST_TEST(!asked.has_ended());
}

// Or whoever opens connections and says nothing would keep everybody else out.
BOOST_AUTO_TEST_CASE(the_client_that_has_been_silent_longest_gives_way_to_a_new_one) {
  HttpLimits limits;
  limits.connections = 2;
  Harness harness(limits);
  RawClient first(harness.port);
  RawClient second(harness.port);
  RawClient third(harness.port);
  third.send(get("/"));
  harness.receive(third, "GET / \n");
  BOOST_TEST(harness.receive_all(first) == "");
  BOOST_TEST(!second.has_ended());
  BOOST_TEST(harness.refused.empty());
  BOOST_REQUIRE(harness.limits_hit.size() == 1u);
  BOOST_TEST((harness.limits_hit.front() == Limit::kHttpConnections));
}

BOOST_AUTO_TEST_CASE(who_trickles_or_does_not_read_gives_way_too) {
  HttpLimits limits;
  limits.connections = 2;
  Harness harness(limits);
  harness.handler = [](const HttpRequest& request, const HttpReply& reply) {
    const size_t bytes = request.path == "/large" ? 16 << 20 : 1;
    reply.send({.body = std::string(bytes, 'x')});
  };
  RawClient trickling(harness.port);
  trickling.send("GET / HT");
  RawClient lazy(harness.port, 4096);
  lazy.send(get("/large"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  for (int i = 0; i < 3; ++i) {
    RawClient client(harness.port);
    client.send(get("/", "Connection: close\r\n"));
    BOOST_TEST(harness.receive_all(client).ends_with("x"));
  }
  BOOST_TEST(trickling.has_ended());
}

// As many as one likes may connect behind a request: it is read before they take its place.
BOOST_AUTO_TEST_CASE(a_crowd_of_silent_clients_does_not_hide_a_request) {
  HttpLimits limits;
  limits.connections = 64;
  Harness harness(limits);
  std::vector<std::unique_ptr<RawClient>> crowd;
  const auto gather = [&] {
    for (int i = 0; i < 200; ++i) crowd.push_back(std::make_unique<RawClient>(harness.port));
  };
  gather();
  RawClient client(harness.port);
  client.send(get("/"));
  gather();
  harness.receive(client, "GET / \n");
  BOOST_TEST(harness.refused.empty());
}

BOOST_AUTO_TEST_CASE(while_all_wait_for_their_answers_one_client_too_many_is_told_so) {
  HttpLimits limits;
  limits.connections = 2;
  Harness harness(limits);
  harness.handler = [](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/stream") reply.begin_stream("text/plain");
  };
  RawClient waiting(harness.port);
  waiting.send(get("/wait"));
  RawClient streaming(harness.port);
  streaming.send(get("/stream"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 2; }));
  const std::string answer = harness.exchange(get("/"));
  BOOST_TEST(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  check_refused(harness, 503, Limit::kHttpConnections);
  BOOST_TEST(harness.gone.empty());
  harness.requests.front().send({.body = "at last"});
  harness.receive(waiting, "at last");
}

BOOST_AUTO_TEST_CASE(far_too_many_clients_are_closed_without_a_word) {
  HttpLimits limits;
  limits.connections = 1;
  Harness harness(limits);
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  RawClient served(harness.port);
  served.send(get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 100; ++i) {
    crowd.push_back(std::make_unique<RawClient>(harness.port));
    crowd.back()->send(get("/"));
  }
  BOOST_REQUIRE(harness.run_until([&] { return harness.limits_hit.size() >= 100; }));
  for (const auto& client : crowd) harness.receive_all(*client);
  BOOST_TEST(harness.refused.size() >= 64u);
  harness.requests.front().send({.body = "at last"});
  harness.receive(served, "at last");
}

BOOST_AUTO_TEST_CASE(three_hundred_connections_are_served_at_once) {
  Harness harness;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(std::make_unique<RawClient>(harness.port));
  for (int round = 0; round < 3; ++round) {
    const std::string path = "/" + std::to_string(round);
    for (const auto& client : clients) client->send(get(path));
    for (const auto& client : clients) harness.receive(*client, "GET " + path + " \n");
  }
  BOOST_TEST(harness.requests.size() == 900u);
  BOOST_TEST(harness.limits_hit.empty());
}

// Whoever else lives on the loop comes to its turn between the requests of many clients.
BOOST_AUTO_TEST_CASE(requests_of_all_connections_together_leave_the_loop_to_others) {
  Harness harness;
  size_t in_this_turn = 0;
  size_t most_in_a_turn = 0;
  LoopTimer others(harness.loop, [&] {
    in_this_turn = 0;
    others.arm(milliseconds(1));
  });
  others.arm(milliseconds(1));
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    most_in_a_turn = std::max(most_in_a_turn, ++in_this_turn);
    std::this_thread::sleep_for(milliseconds(3));
    reply.send({.body = request.path});
  };
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 30; ++i) clients.push_back(std::make_unique<RawClient>(harness.port));
  for (const auto& client : clients) client->send(get("/1") + get("/2"));
  for (const auto& client : clients) {
    harness.receive(*client, "/1");
    harness.receive(*client, "/2");
  }
  BOOST_TEST(most_in_a_turn <= 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
