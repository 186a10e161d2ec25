// Answers without an end.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <set>

#include "http_harness.hh"

namespace bellwether::io::test {
namespace {

constexpr const char* kType = "text/event-stream";

// Every request gets a stream.
void stream_always(Harness& harness) {
  harness.handler = [](const HttpRequest&, const HttpReply& reply) { reply.begin_stream(kType); };
}

HttpReply reply_to(Harness& harness, RawClient& client, const std::string& request) {
  const size_t known = harness.requests.size();
  client.send(request);
  BOOST_REQUIRE(harness.run_until([&] { return harness.requests.size() == known + 1; }));
  return harness.requests.back();
}

std::string attach() { return "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"; }

// In milliseconds, of all connections at the server's end.
std::multiset<int> user_timeouts(const Harness& harness) {
  std::multiset<int> timeouts;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in own{};
    sockaddr_in peer{};
    socklen_t size = sizeof own;
    // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): as the calls have it
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) continue;
    if (size != sizeof own || ntohs(own.sin_port) != harness.port) continue;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
    int timeout = -1;
    size = sizeof timeout;
    BOOST_REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, &size) == 0);
    timeouts.insert(timeout);
  }
  return timeouts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_stream)

BOOST_AUTO_TEST_CASE(a_new_patience_is_with_those_that_are_attached_already) {
  HttpLimits limits;
  limits.unacknowledged = std::chrono::seconds(2);
  Harness harness(limits);
  stream_always(harness);
  RawClient attached(harness.port);
  RawClient reader(harness.port);
  reply_to(harness, attached, attach());
  reply_to(harness, reader, get("/"));
  BOOST_TEST(user_timeouts(harness) == (std::multiset<int>{0, 2000}),
             boost::test_tools::per_element());
  harness.server->set_patience(std::chrono::milliseconds(7500));
  BOOST_TEST(user_timeouts(harness) == (std::multiset<int>{0, 7500}),
             boost::test_tools::per_element());
  RawClient next(harness.port);
  reply_to(harness, next, attach());
  BOOST_TEST(user_timeouts(harness) == (std::multiset<int>{0, 7500, 7500}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(pieces_arrive_as_chunks_one_by_one) {
  Harness harness;
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, get("/"));
  const std::string head = harness.receive(client, "\r\n\r\n");
  BOOST_TEST(count(head, "Transfer-Encoding: chunked\r\n") == 1u);
  BOOST_TEST(count(head, "Content-Type: text/event-stream\r\n") == 1u);
  BOOST_TEST(count(head, "Content-Length") == 0u);
  BOOST_TEST(reply.write("data: 1\n\n"));
  BOOST_TEST(harness.receive(client, "\n\n\r\n") == head + "9\r\ndata: 1\n\n\r\n");
  BOOST_TEST(reply.write(""));
  BOOST_TEST(reply.write(std::string(26, 'x')));
  harness.receive(client, "\r\n1a\r\nxxxx");
  BOOST_TEST(reply.is_open());
  reply.end_stream();
  BOOST_TEST(!reply.is_open());
  BOOST_TEST(!reply.write("more"));
  BOOST_TEST(harness.receive_all(client).ends_with("xx\r\n0\r\n\r\n"));
  BOOST_TEST(harness.gone.empty());
}

BOOST_AUTO_TEST_CASE(http_1_0_reads_a_stream_until_it_is_closed) {
  Harness harness;
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, "GET / HTTP/1.0\r\n\r\n");
  BOOST_TEST(reply.write("one"));
  BOOST_TEST(reply.write("two"));
  reply.end_stream();
  const std::string answer = harness.receive_all(client);
  BOOST_TEST(answer.ends_with("\r\n\r\nonetwo"));
  BOOST_TEST(count(answer, "chunked") == 0u);
}

BOOST_AUTO_TEST_CASE(of_a_stream_head_gets_the_head) {
  Harness harness;
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, "HEAD / HTTP/1.1\r\nHost: here\r\n\r\n");
  BOOST_TEST(!reply.is_open());
  BOOST_TEST(!reply.write("nothing"));
  BOOST_TEST(harness.receive(client, "\r\n\r\n").ends_with("\r\n\r\n"));
  harness.handler = [](const HttpRequest&, const HttpReply& next) { next.send({.body = "next"}); };
  client.send(get("/"));
  harness.receive(client, "next");
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_is_closed_and_counted) {
  HttpLimits limits;
  limits.unsent_bytes = 64 * 1024;
  Harness harness(limits);
  stream_always(harness);
  RawClient lazy(harness.port, 4096);
  RawClient eager(harness.port);
  const HttpReply to_lazy = reply_to(harness, lazy, get("/lazy"));
  const HttpReply to_eager = reply_to(harness, eager, get("/eager"));
  const std::string piece(1024, 'x');
  size_t pieces = 0;
  while (to_lazy.write(piece)) {
    ++pieces;
    BOOST_REQUIRE(pieces < 100'000);
    BOOST_REQUIRE(to_eager.write(piece));
    harness.receive(eager, "\r\n400\r\n");
    BOOST_REQUIRE(harness.gone.empty());
  }
  BOOST_TEST(!to_lazy.is_open());
  BOOST_TEST(harness.limits_hit.size() == 1u);
  BOOST_TEST((harness.limits_hit.front() == Limit::kHttpUnsent));
  // Not from within write().
  BOOST_TEST(harness.gone.empty());
  BOOST_REQUIRE(harness.run_until([&] { return !harness.gone.empty(); }));
  BOOST_TEST((harness.gone.front() == to_lazy));
  BOOST_TEST(to_eager.write("goes on"));
  harness.receive(eager, "goes on");
  BOOST_TEST(harness.gone.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_client_that_reads_again_in_time_misses_nothing) {
  HttpLimits limits;
  limits.unsent_bytes = 256 * 1024;
  Harness harness(limits);
  stream_always(harness);
  RawClient client(harness.port, 4096);
  const HttpReply reply = reply_to(harness, client, get("/"));
  const std::string piece(1000, 'x');
  for (int i = 0; i < 200; ++i) BOOST_REQUIRE(reply.write(piece));
  reply.end_stream();
  BOOST_TEST(count(harness.receive_all(client), "3e8\r\nxx") == 200u);
  BOOST_TEST(harness.limits_hit.empty());
}

BOOST_AUTO_TEST_CASE(a_single_large_piece_is_not_a_slow_client) {
  HttpLimits limits;
  limits.unsent_bytes = 1024;
  Harness harness(limits);
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, get("/"));
  const std::string large(8 << 20, 'x');
  BOOST_TEST(reply.write(large));
  reply.end_stream();
  BOOST_TEST(harness.receive_all(client).size() > large.size());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_streams_client_is_told_once) {
  Harness harness;
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, get("/"));
  client.close();
  BOOST_REQUIRE(harness.run_until([&] { return !harness.gone.empty(); }));
  BOOST_TEST((harness.gone.front() == reply));
  BOOST_TEST(!reply.write("x"));
  harness.settle();
  BOOST_TEST(harness.gone.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_stream_in_which_nothing_happens_is_not_idle) {
  HttpLimits limits;
  limits.idle = std::chrono::milliseconds(20);
  Harness harness(limits);
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, get("/"));
  RawClient idle(harness.port);
  BOOST_TEST(harness.receive_all(idle) == "");
  RawClient second_idle(harness.port);
  BOOST_TEST(harness.receive_all(second_idle) == "");
  BOOST_TEST(reply.is_open());
}

BOOST_AUTO_TEST_CASE(the_servers_end_completes_a_stream) {
  Harness harness;
  stream_always(harness);
  RawClient client(harness.port);
  const HttpReply reply = reply_to(harness, client, get("/"));
  harness.server->stop_listening();
  BOOST_TEST(reply.write("last words"));
  harness.server.reset();
  BOOST_TEST(harness.receive_all(client).ends_with("last words\r\n0\r\n\r\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
