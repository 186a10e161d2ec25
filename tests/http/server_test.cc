// What a client gets for its requests.
#include <boost/test/unit_test.hpp>

#include "http_harness.hh"

namespace bellwether::io::test {
namespace {

constexpr const char* kClose = "Connection: close\r\n";

// What comes behind the head of the only response in `text`.
std::string body_of(const std::string& text) {
  const size_t end = text.find("\r\n\r\n");
  BOOST_REQUIRE(end != std::string::npos);
  return text.substr(end + 4);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server)

BOOST_AUTO_TEST_CASE(a_request_gets_the_handlers_answer) {
  Harness harness;
  const std::string answer = harness.exchange(
      "POST /a%20b HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
  BOOST_TEST(answer ==
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n"
             "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
             "Connection: close\r\n\r\nPOST /a b hi\n");
  BOOST_TEST(harness.refused.empty());
  BOOST_TEST(harness.limits_hit.empty());
  BOOST_TEST(harness.gone.empty());
}

BOOST_AUTO_TEST_CASE(the_handlers_headers_are_sent_and_cannot_end_the_head) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.send({.status = 405, .headers = {{"Allow", "GET"}, {"X", "a\r\n\r\nb"}}});
  };
  const std::string answer = harness.exchange(get("/", kClose));
  BOOST_TEST(answer.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
  BOOST_TEST(contains(answer, "\r\nAllow: GET\r\nX: a    b\r\n\r\n"));
}

BOOST_AUTO_TEST_CASE(a_connection_serves_two_thousand_requests) {
  Harness harness;
  RawClient client(harness.port);
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    client.send(get("/" + std::to_string(i)));
    harness.receive(client, "GET /" + std::to_string(i) + " \n");
  }
  BOOST_TEST(count(client.received(), "HTTP/1.1 200 OK") == 2000u);
  BOOST_TEST(!client.has_ended());
}

BOOST_AUTO_TEST_CASE(requests_sent_ahead_are_answered_in_order_and_one_at_a_time) {
  Harness harness;
  std::vector<std::pair<std::string, HttpReply>> waiting;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    waiting.emplace_back(request.path, reply);
  };
  RawClient client(harness.port);
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += get("/" + std::to_string(i));
  client.send(requests);
  std::string expected;
  for (size_t i = 0; i < 100; ++i) {
    BOOST_REQUIRE(harness.run_until([&] { return waiting.size() == i + 1; }));
    harness.settle();
    BOOST_REQUIRE(waiting.size() == i + 1);
    BOOST_TEST(waiting[i].first == "/" + std::to_string(i));
    waiting[i].second.send({.body = waiting[i].first + ";"});
    expected += waiting[i].first + ";";
    harness.receive(client, waiting[i].first + ";");
  }
}

BOOST_AUTO_TEST_CASE(many_requests_sent_at_once_are_all_answered) {
  Harness harness;
  RawClient client(harness.port);
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += get("/" + std::to_string(i));
  client.send(requests);
  client.end_sending();
  const std::string answers = harness.receive_all(client);
  BOOST_TEST(count(answers, "HTTP/1.1 200 OK") == 1000u);
  size_t at = 0;
  for (int i = 0; i < 1000 && at != std::string::npos; ++i) {
    at = answers.find("GET /" + std::to_string(i) + " \n", at);
  }
  BOOST_TEST(at != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_client_that_sends_far_ahead_is_not_read_until_it_is_answered) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  RawClient client(harness.port);
  client.send(get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  // A server that reads on would take it all.
  const std::string more(1 << 16, 'x');
  int full = 0;
  for (int i = 0; i < 2000 && full < 3; ++i) {
    full = client.send_some(more) == 0 ? full + 1 : 0;
    harness.settle();
  }
  BOOST_TEST(full == 3);
  BOOST_TEST(harness.requests.size() == 1u);
  BOOST_TEST(harness.gone.empty());
}

BOOST_AUTO_TEST_CASE(head_gets_the_length_but_no_body) {
  Harness harness;
  const std::string answer =
      harness.exchange("HEAD /x HTTP/1.1\r\nHost: here\r\n\r\n" + get("/y", kClose));
  BOOST_TEST(contains(answer, "Content-Length: 9\r\n"));
  BOOST_TEST(!contains(answer, "HEAD /x"));
  BOOST_TEST(contains(answer, "GET /y \n"));
}

BOOST_AUTO_TEST_CASE(no_content_has_neither_length_nor_body) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply& reply) {
    reply.send({.status = 204, .body = "none"});
  };
  const std::string answer = harness.exchange(get("/", kClose));
  BOOST_TEST(answer.starts_with("HTTP/1.1 204 No Content\r\nCache-Control"));
  BOOST_TEST(!contains(answer, "\r\nContent-"));
  BOOST_TEST(body_of(answer) == "");
}

BOOST_AUTO_TEST_CASE(http_1_0_is_closed_after_the_answer_unless_it_asks) {
  Harness harness;
  BOOST_TEST(contains(harness.exchange("GET / HTTP/1.0\r\n\r\n"), "GET / \n"));
  RawClient client(harness.port);
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  BOOST_TEST(contains(harness.receive(client, "GET / \n"), "Connection: keep-alive\r\n"));
  harness.settle();
  BOOST_TEST(!client.has_ended());
}

BOOST_AUTO_TEST_CASE(who_waits_for_it_is_asked_for_the_body) {
  Harness harness;
  RawClient client(harness.port);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  BOOST_TEST(harness.receive(client, "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  harness.receive(client, "POST / hi\n");
}

BOOST_AUTO_TEST_CASE(a_chunked_body_arrives_as_one) {
  Harness harness;
  RawClient client(harness.port);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r");
  harness.settle();
  BOOST_TEST(client.received() == "");
  client.send("\n2\r\nde\r\n0\r\n\r\n");
  harness.receive(client, "POST / abcde\n");
}

BOOST_AUTO_TEST_CASE(an_answer_can_come_later) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  RawClient client(harness.port);
  client.send(get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  const HttpReply reply = harness.requests.front();
  harness.settle();
  BOOST_TEST(reply.is_open());
  BOOST_TEST(client.received() == "");
  reply.send({.body = "later"});
  BOOST_TEST(!reply.is_open());
  harness.receive(client, "later");
  reply.send({.body = "again"});
  harness.settle();
  BOOST_TEST(!contains(client.received(), "again"));
}

BOOST_AUTO_TEST_CASE(replies_are_equal_when_they_answer_the_same_request) {
  Harness harness;
  RawClient client(harness.port);
  client.send(get("/") + get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 2; }));
  const HttpReply copy = harness.requests[0];
  BOOST_TEST((copy == harness.requests[0]));
  BOOST_TEST((copy != harness.requests[1]));
}

BOOST_AUTO_TEST_CASE(the_handler_is_told_when_the_client_of_a_waiting_request_goes) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  for (const bool is_reset : {false, true}) {
    RawClient client(harness.port);
    client.send(get("/"));
    const size_t known = harness.requests.size();
    BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == known + 1; }));
    if (is_reset) {
      client.reset();
    } else {
      client.close();
    }
    BOOST_REQUIRE(harness.run_until([&] { return harness.gone.size() == known + 1; }));
    BOOST_TEST((harness.gone[known] == harness.requests[known]));
    BOOST_TEST(!harness.gone[known].is_open());
    harness.gone[known].send({.body = "to nobody"});
  }
  BOOST_TEST(harness.refused.empty());
  BOOST_TEST(harness.limits_hit.empty());
}

BOOST_AUTO_TEST_CASE(a_health_checker_that_resets_is_no_event) {
  Harness harness;
  for (int i = 0; i < 20; ++i) {
    RawClient client(harness.port);
    client.send(get("/"));
    if (i % 2 == 0) harness.receive(client, "GET / \n");
    client.reset();
  }
  harness.settle();
  BOOST_TEST(harness.gone.empty());
  BOOST_TEST(harness.refused.empty());
  BOOST_TEST(harness.limits_hit.empty());
}

BOOST_AUTO_TEST_CASE(an_answer_can_be_given_while_another_request_is_handled) {
  Harness harness;
  harness.handler = [&](const HttpRequest&, const HttpReply& reply) {
    for (const HttpReply& earlier : harness.requests) {
      if (earlier != reply) earlier.send({.body = "by another"});
    }
  };
  RawClient one(harness.port);
  one.send(get("/") + get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  RawClient other(harness.port);
  other.send(get("/"));
  // The answer to the first lets its second request be seen, which answers the other's.
  harness.receive(other, "by another");
  BOOST_TEST(count(one.received(), "by another") == 1u);
}

BOOST_AUTO_TEST_CASE(after_stop_listening_only_due_answers_are_given) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  RawClient idle(harness.port);
  RawClient waiting(harness.port);
  waiting.send(get("/") + get("/never"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  harness.server->stop_listening();
  BOOST_TEST(harness.receive_all(idle) == "");
  harness.requests.front().send({.body = "the last"});
  const std::string answer = harness.receive_all(waiting);
  BOOST_TEST(contains(answer, "the last"));
  BOOST_TEST(contains(answer, "Connection: close"));
  BOOST_TEST(harness.requests.size() == 1u);
  // An address with a scope that there is none of: getaddrinfo(3) refuses it by itself, where it
  // would look up a name, and a name server that is silent costs ten seconds.
  BOOST_CHECK_THROW(harness.server->listen({"::1%nowhere", 1}), AddressError);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_server_closes_everything) {
  Harness harness;
  harness.handler = [](const HttpRequest&, const HttpReply&) {};
  RawClient idle(harness.port);
  RawClient waiting(harness.port);
  waiting.send(get("/"));
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == 1; }));
  harness.server.reset();
  BOOST_TEST(harness.receive_all(idle) == "");
  BOOST_TEST(harness.receive_all(waiting) == "");
  BOOST_TEST(harness.gone.empty());
}

BOOST_AUTO_TEST_CASE(an_address_in_use_is_named) {
  Harness harness;
  const auto names_it = [&](const AddressError& error) {
    return error.what() == "cannot listen on 127.0.0.1:" + std::to_string(harness.port) +
                               ": Address already in use; stop the process that listens there, or "
                               "give another address";
  };
  BOOST_CHECK_EXCEPTION(harness.server->listen({"127.0.0.1", harness.port}), AddressError,
                        names_it);
}

BOOST_AUTO_TEST_CASE(an_answer_larger_than_all_buffers_arrives_whole) {
  Harness harness;
  const std::string large(8 << 20, 'x');
  harness.handler = [&](const HttpRequest&, const HttpReply& reply) {
    reply.send({.body = large});
  };
  RawClient client(harness.port);
  client.send(get("/") + get("/", kClose));
  const std::string answers = harness.receive_all(client);
  BOOST_TEST(count(answers, "HTTP/1.1 200 OK") == 2u);
  BOOST_TEST(count(answers, large.substr(0, 1 << 10)) >= 2u);
  BOOST_TEST(answers.size() > 2 * large.size());
  BOOST_TEST(harness.limits_hit.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
