// What becomes of a client's connection between two requests.
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>

#include "client_harness.hh"
#include "io/loop/timer.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

BOOST_AUTO_TEST_SUITE(kept_connection)

BOOST_AUTO_TEST_CASE(a_connection_is_kept_for_the_next_request) {
  ClientHarness harness;
  std::vector<std::string> clients;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    clients.push_back(request.client.address);
    reply.send({.body = request.authorization.c_str()});
  };
  for (const char* secret : {"one", "two"}) {
    harness.send({.url = harness.url(), .authorization = secret, .keep_for = seconds(60)});
    BOOST_TEST(harness.result().answer.body == secret);
  }
  harness.send({.url = harness.url()});
  BOOST_TEST(harness.result().answer.body == "");
  harness.send({.url = harness.url(), .keep_for = seconds(60)});
  harness.result();
  BOOST_REQUIRE(clients.size() == 4u);
  BOOST_TEST(clients[0] == clients[1]);
  BOOST_TEST(clients[2] == clients[1]);  // the kept one is used, and closed then
  BOOST_TEST(clients[3] != clients[2]);
}

BOOST_AUTO_TEST_CASE(a_kept_connection_is_closed_when_its_time_is_over) {
  ClientHarness harness;
  std::vector<std::string> clients;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    clients.push_back(request.client.address);
    reply.send({});
  };
  harness.send({.url = harness.url(), .keep_for = milliseconds(1)});
  harness.result();
  bool is_later = false;
  LoopTimer later(harness.loop, [&] { is_later = true; });
  later.arm(milliseconds(5));  // libuv calls the timer that is due first first
  BOOST_REQUIRE(harness.run_until([&] { return is_later; }));
  harness.send({.url = harness.url(), .keep_for = milliseconds(1)});
  harness.result();
  BOOST_TEST(clients.front() != clients.back());
}

BOOST_AUTO_TEST_CASE(a_kept_connection_that_the_server_has_ended_is_replaced_unseen) {
  ClientHarness harness;
  const ListeningSocket first;
  const std::string url = "http://127.0.0.1:" + std::to_string(first.port()) + "/";
  harness.send({.url = url, .keep_for = seconds(60)});
  first.answer_once(harness.loop, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
  BOOST_TEST(harness.result().answer.body == "one");
  // Its end has arrived by now, and the loop has not turned to read it.
  harness.send({.url = url, .keep_for = seconds(60)});
  first.answer_once(harness.loop, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
  BOOST_TEST(harness.result().answer.body == "two");
}

BOOST_AUTO_TEST_CASE(what_comes_behind_an_answer_is_not_the_next_one) {
  const std::string fake = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake";
  for (const bool is_later : {false, true}) {
    ClientHarness harness;
    const ListeningSocket server;
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
    harness.send({.url = url, .keep_for = seconds(60)});
    const FileDescriptor open = server.answer_and_keep(
        harness.loop, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none" + (is_later ? "" : fake));
    BOOST_TEST(harness.result().answer.body == "one");
    if (is_later) {
      BOOST_REQUIRE(::send(open.get(), fake.data(), fake.size(), 0) > 0);
      harness.settle();
    }
    harness.send({.url = url, .keep_for = seconds(60)});
    server.answer_once(harness.loop, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
    BOOST_TEST(harness.result().answer.body == "two");
  }
}

BOOST_AUTO_TEST_CASE(what_is_dropped_says_nothing_and_leaves_no_connection) {
  ClientHarness harness;
  std::vector<std::string> clients;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    clients.push_back(request.client.address);
    if (clients.size() != 2) reply.send({});
  };
  harness.send({.url = harness.url(), .keep_for = seconds(60)});
  harness.result();
  harness.send({.url = harness.url(), .keep_for = seconds(60)});
  BOOST_REQUIRE(harness.run_until([&] { return clients.size() == 2; }));
  harness.client.drop();
  BOOST_TEST(!harness.client.is_busy());
  BOOST_REQUIRE(harness.run_until([&] { return harness.gone.size() == 1; }));
  harness.send({.url = harness.url(), .keep_for = seconds(60)});
  harness.result();
  BOOST_TEST(harness.results.empty());
  BOOST_TEST(clients[0] == clients[1]);
  BOOST_TEST(clients[2] != clients[1]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
