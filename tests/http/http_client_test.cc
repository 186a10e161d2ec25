// What becomes of a client's request.
#include "io/http/http_client.hh"

#include <boost/test/unit_test.hpp>

#include "client_harness.hh"
#include "held_port.hh"
#include "io/http/http_url.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client)

BOOST_AUTO_TEST_CASE(an_answer_has_status_headers_and_body) {
  ClientHarness harness;
  std::string seen;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    seen = request.method + " " + request.path + " " + request.query.at("a") + " " + request.body +
           " " + *request.header("X-Some") + " " + *request.header("Host");
    reply.send({.status = 409, .body = "no", .headers = {{"X-Other", "thing"}}});
  };
  harness.send({.method = "POST",
                .url = harness.url("/path?a=b"),
                .headers = {{"X-Some", "thing"}},
                .body = "body"});
  const HttpClientResult result = harness.result();
  BOOST_TEST(result.error == "");
  BOOST_TEST(result.answer.status == 409u);
  BOOST_TEST(result.answer.body == "no");
  BOOST_REQUIRE(result.answer.header("x-other"));
  BOOST_TEST(*result.answer.header("x-other") == "thing");
  BOOST_TEST(seen == "POST /path b body thing 127.0.0.1:" + std::to_string(harness.port));
}

BOOST_AUTO_TEST_CASE(requests_follow_each_other_also_from_within_done) {
  ClientHarness harness;
  int left = 50;
  const HttpClientRequest request{.url = harness.url()};
  const std::function<void(HttpClientResult)> again = [&](const HttpClientResult& result) {
    BOOST_TEST(result.error == "");
    if (--left > 0) harness.client.send(request, again);
  };
  harness.client.send(request, again);
  BOOST_TEST(harness.run_until([&] { return left == 0; }));
  BOOST_TEST(harness.requests.size() == 50u);
}

BOOST_AUTO_TEST_CASE(a_unix_socket_is_reached_by_its_path) {
  const ScratchFolder folder;
  ClientHarness harness;
  harness.server->listen_on_socket(folder.path("api.sock"));
  const std::string host = percent_encode(folder.path("api.sock"));
  BOOST_TEST(harness.get("http+unix://" + host + "/x").answer.body == "GET /x \n");
  const HttpClientResult missing = harness.get("http+unix://" + host + "2/x");
  BOOST_TEST(contains(missing.error, "api.sock2"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_reached_is_named) {
  ClientHarness harness;
  const HeldPort nobody;
  const std::string server = nobody.place().text();
  const HttpClientResult result = harness.get("http://" + server + "/");
  BOOST_TEST(result.error == "cannot connect to " + server + ": connection refused");
  BOOST_TEST((result.failure == HttpFailure::kUnreachable));
  BOOST_TEST(result.why == "connection refused");
}

BOOST_AUTO_TEST_CASE(localhost_is_known_and_its_second_address_is_tried) {
  ClientHarness harness;  // listens on 127.0.0.1 only
  BOOST_TEST(harness.get(harness.url("/", "localhost")).answer.status == 200u);
  BOOST_TEST(harness.names.questions("localhost") == 0);
}

BOOST_AUTO_TEST_CASE(a_name_is_looked_up_and_its_addresses_are_tried_in_order) {
  ClientHarness harness;  // nobody listens at the others; 127.0.0.9 is a host of its own
  for (const char* address : {"127.0.0.9", "127.0.0.1", "127.0.0.2"}) {
    harness.names.add_ipv4("some.name", address);
  }
  BOOST_TEST(harness.get(harness.url("/", "some.name")).answer.status == 200u);
  BOOST_TEST(harness.names.questions("some.name") == 1);
}

BOOST_AUTO_TEST_CASE(a_failed_look_up_is_the_error) {
  ClientHarness harness;
  const HttpClientResult result = harness.get("http://some.name/");
  BOOST_TEST((result.failure == HttpFailure::kUnreachable));
  BOOST_TEST(result.error == "cannot look up some.name: " + result.why);
}

BOOST_AUTO_TEST_CASE(a_look_up_counts_for_the_timeout_and_may_answer_late) {
  ClientHarness harness;
  harness.names.set_silent(true);
  harness.send({.url = "http://some.name/", .timeout = milliseconds(20)});
  BOOST_TEST((harness.result().failure == HttpFailure::kTimeout));
  harness.names.set_silent(false);
  harness.names.add_ipv4("some.name", "127.0.0.1");
  BOOST_TEST(harness.get(harness.url()).answer.status == 200u);
  BOOST_TEST(harness.results.empty());
}

BOOST_AUTO_TEST_CASE(a_look_up_may_answer_when_its_client_is_gone) {
  ClientHarness harness;
  harness.names.add_ipv4("some.name", "127.0.0.1");
  auto client = std::make_unique<HttpClient>(harness.loop, harness.resolver);
  client->send({.url = "http://some.name/"}, [](const HttpClientResult&) { BOOST_TEST(false); });
  client.reset();
  BOOST_REQUIRE(harness.run_until([&] { return harness.names.questions("some.name") == 1; }));
  harness.settle();
}

BOOST_AUTO_TEST_CASE(an_answer_without_an_end_is_passed_on_as_it_comes) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) { reply.begin_stream("a/b"); };
  std::string body;
  int pieces = 0;
  harness.send({.url = harness.url(),
                .timeout = milliseconds(500),
                .on_piece =
                    [&](auto piece) {
                      body += piece;
                      ++pieces;
                    },
                .idle_timeout = std::chrono::seconds(30)});
  BOOST_REQUIRE(harness.run_until([&] { return pieces == 1; }));
  BOOST_TEST(body == "");
  std::string expected;
  const Instant end = Loop::now() + milliseconds(600);  // the timeout is for the head
  while (Loop::now() < end) {
    expected += "some more";
    harness.requests.front().write("some more");
    BOOST_REQUIRE(harness.run_until([&] { return body == expected; }));
  }
  BOOST_TEST(harness.results.empty());
  harness.requests.front().end_stream();
  BOOST_TEST((harness.result().failure == HttpFailure::kNone));
}

BOOST_AUTO_TEST_CASE(a_stream_that_has_fallen_silent_is_given_up) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) { reply.begin_stream("a/b"); };
  Instant last = kNever;
  const auto note = [&](auto) { last = Loop::now(); };
  harness.send({.url = harness.url(), .on_piece = note, .idle_timeout = milliseconds(100)});
  BOOST_REQUIRE(harness.run_until([&] { return last != kNever; }));
  harness.requests.front().write("the last words");
  const HttpClientResult result = harness.result();
  BOOST_TEST((result.failure == HttpFailure::kTimeout));
  BOOST_TEST(result.why == "nothing came within 100ms");
  BOOST_TEST((Loop::now() - last >= milliseconds(100)));
}

BOOST_AUTO_TEST_CASE(of_a_client_that_is_behind_the_server_gets_rid_of_no_more_than_buffers_hold) {
  constexpr size_t kAll = size_t{32} << 20;
  ClientHarness harness;
  harness.server =
      std::make_unique<HttpServer>(harness.loop, harness, HttpLimits{.unsent_bytes = 2 * kAll});
  harness.port = harness.server->listen({"127.0.0.1", 0});
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.begin_stream("a/b");
    reply.write(std::string(kAll, 'x'));
  };
  size_t received = 0;
  const auto take_and_pause = [&](auto piece) {
    received += piece.size();
    harness.client.pause();
  };
  harness.send(
      {.url = harness.url(), .on_piece = take_and_pause, .idle_timeout = milliseconds(50)});
  BOOST_REQUIRE(harness.run_until([&] { return received > 0; }));
  const size_t first = received;
  const Instant end = Loop::now() + milliseconds(200);  // nor is it given up for its own silence
  BOOST_REQUIRE(harness.run_until([&] { return Loop::now() > end; }));
  BOOST_TEST(received == first);
  BOOST_TEST(harness.results.empty());
  BOOST_TEST(harness.run_until([&] {
    harness.client.resume();
    return received == kAll;
  }));
}

BOOST_AUTO_TEST_CASE(a_refusal_is_no_stream) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.send({.status = 503, .body = "no"});
  };
  harness.send({.url = harness.url(),
                .on_piece = [](auto) { BOOST_TEST(false); },
                .idle_timeout = milliseconds(1)});
  BOOST_TEST(harness.result().answer.body == "no");
}

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_says_nothing) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  auto client = std::make_unique<HttpClient>(harness.loop, harness.resolver);
  client->send({.url = harness.url()}, [](const HttpClientResult&) { BOOST_TEST(false); });
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  client.reset();
  BOOST_TEST(harness.run_until([&] { return harness.gone.size() == 1; }));
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_a_timeout) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  harness.send({.url = harness.url(), .timeout = milliseconds(50)});
  const HttpClientResult result = harness.result();
  BOOST_TEST((result.failure == HttpFailure::kTimeout));
  BOOST_TEST(result.error ==
             "127.0.0.1:" + std::to_string(harness.port) + ": no whole answer within 50ms");
  // None at all on a machine where the time is over before the request has arrived.
  BOOST_TEST(harness.run_until([&] { return harness.gone.size() == harness.requests.size(); }));
}

// Each byte comes in time, the whole does not.
BOOST_AUTO_TEST_CASE(an_answer_that_trickles_in_is_a_timeout) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) { reply.begin_stream("a/b"); };
  harness.send({.url = harness.url(), .timeout = milliseconds(100)});
  BOOST_REQUIRE(harness.run_until([&] {
    if (!harness.requests.empty()) harness.requests.front().write("x");
    return !harness.results.empty();
  }));
  BOOST_TEST((harness.result().failure == HttpFailure::kTimeout));
}

BOOST_AUTO_TEST_CASE(a_redirect_is_an_answer_like_any_other) {
  ClientHarness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.send({.status = 307, .headers = {{"Location", "/elsewhere"}}});
  };
  BOOST_TEST(harness.get(harness.url()).answer.status == 307u);
  BOOST_TEST(harness.requests.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_long_body_is_cut_and_the_status_counts) {
  ClientHarness harness;
  size_t size = 64 * 1024;
  harness.handler = [&](const HttpRequest&, const HttpReply& reply) {
    reply.send({.body = std::string(size, 'x')});
  };
  HttpClientResult result = harness.get(harness.url());
  BOOST_TEST(result.answer.body.size() == size);
  BOOST_TEST(!result.answer.is_body_cut);
  for (size = 64 * 1024 + 1; size < 100'000'000; size *= 100) {
    result = harness.get(harness.url());
    BOOST_TEST(result.error == "");
    BOOST_TEST(result.answer.status == 200u);
    BOOST_TEST(result.answer.body.size() == 64u * 1024);
    BOOST_TEST(result.answer.is_body_cut);
  }
}

BOOST_AUTO_TEST_CASE(bodies_are_framed_in_all_ways_of_http) {
  ClientHarness harness;
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  BOOST_TEST(harness.result_of(ok + "\r\nuntil the end").answer.body == "until the end");
  BOOST_TEST(harness.result_of("HTTP/1.0 200 OK\r\n\r\nold").answer.body == "old");
  BOOST_TEST(harness.result_of(ok + "Content-Length: 3\r\n\r\nabcdef").answer.body == "abc");
  BOOST_TEST(harness
                 .result_of(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\n"
                                 "X-Late: y\r\n\r\n")
                 .answer.body == "abc");
  BOOST_TEST(harness.result_of("HTTP/1.1 204 No Content\r\n\r\n").answer.status == 204u);
  BOOST_TEST(harness.result_of(ok + "Content-Length: 3\r\n\r\n", "HEAD").error == "");
  const HttpClientResult result =
      harness.result_of("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" + ok +
                        "Content-Length: 1\r\n\r\nx");
  BOOST_TEST(result.answer.status == 200u);
  BOOST_TEST(result.answer.headers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_no_whole_answer_is_an_error) {
  ClientHarness harness;
  const auto error_of = [&](const std::string& answer) { return harness.result_of(answer).error; };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  BOOST_TEST(contains(error_of(""), "is missing: the connection was closed"));
  BOOST_TEST(contains(error_of("HTTP/1.1 200"), "ended too early"));
  BOOST_TEST(contains(error_of(ok + "Content-Length: 3\r\n\r\nab"), "ended too early"));
  BOOST_TEST(contains(error_of(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab"), "too early"));
  BOOST_TEST(contains(error_of("SSH-2.0-OpenSSH_9.2\r\n"), "is not HTTP"));
  BOOST_TEST(contains(error_of(ok + "X: " + std::string(20'000, 'x')), "has too large a header"));
  BOOST_TEST(contains(error_of("HTTP/1.1 099 Odd\r\n\r\nbody"), "is not HTTP"));
  std::string interim;
  for (int i = 0; i < 100; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  BOOST_TEST(contains(error_of(interim), "has no end"));
}

BOOST_AUTO_TEST_CASE(a_bad_url_is_told_later_too) {
  ClientHarness harness;
  harness.send({.url = "ftp://127.0.0.1/"});
  BOOST_TEST(harness.results.empty());
  BOOST_TEST(contains(harness.result().error, "does not start with http:// or https://"));
}

BOOST_AUTO_TEST_CASE(urls_are_taken_apart) {
  HttpUrl url;
  BOOST_TEST(parse_http_url("http://host", url) == "");
  BOOST_TEST(url.host == "host");
  BOOST_TEST(url.port == 80);
  BOOST_TEST(url.target == "/");
  BOOST_TEST(url.host_header() == "host");
  BOOST_TEST(parse_http_url("http://[::1]:8080?a=b", url) == "");
  BOOST_TEST(url.host == "::1");
  BOOST_TEST(url.target == "/?a=b");
  BOOST_TEST(url.host_header() == "[::1]:8080");
  BOOST_TEST(parse_http_url("http://[::1]/%20", url) == "");
  BOOST_TEST(url.host_header() == "[::1]");
  BOOST_TEST(url.target == "/%20");
  BOOST_TEST(parse_http_url("http+unix://%2Frun%2Fa.sock/x", url) == "");
  BOOST_TEST(url.socket_path == "/run/a.sock");
  BOOST_TEST(url.host_header() == "localhost");
}

BOOST_AUTO_TEST_CASE(https_has_a_port_of_its_own) {
  HttpUrl url;
  BOOST_TEST(parse_http_url("https://host/x", url) == "");
  BOOST_TEST((url.is_https && url.port == 443 && url.host_header() == "host"));
  BOOST_TEST(parse_http_url("https://host:80/", url) == "");
  BOOST_TEST(url.host_header() == "host:80");
  BOOST_TEST(parse_http_url("http://host:443/", url) == "");
  BOOST_TEST((!url.is_https && url.host_header() == "host:443"));
}

BOOST_AUTO_TEST_CASE(urls_that_cannot_be_reached_are_refused) {
  HttpUrl url;
  for (const char* text :
       {"", "host", "ftp://host/", "https:/host/", "http://", "http:///x", "http://host:0/",
        "http://host:99999/", "http://user@host/", "http://user:word@host/", "http://[::1/",
        "http://::1/", "http://ho st/", "http://host/a b", "http://host/\r\nX: y", "http://host/#a",
        "http+unix://run/a.sock/", "http+unix:///x", "http+unix://%2/"}) {
    BOOST_TEST_CONTEXT(text) { BOOST_TEST(!parse_http_url(text, url).empty()); }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
