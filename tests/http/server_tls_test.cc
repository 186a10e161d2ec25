// The server by TLS, on real sockets: who is served, who is refused, and what it costs at once.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <memory>
#include <optional>

#include "certificate_maker.hh"
#include "http_harness.hh"
#include "io/tls/certificates.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;

const CertificateWish kHost{.names = {"IP:127.0.0.1"}};

// Speaks TLS over a raw client.
class TlsClient {
 public:
  TlsClient(uint16_t port, TlsContextPtr context, const char* from = "127.0.0.1")
      : raw_(port, from), session_(std::move(context), TlsSide::kClient, "127.0.0.1") {
    session_.begin();
  }
  void send(std::string_view text) { session_.write(text); }
  // Once established: each byte in a record of its own.
  void send_in_records(std::string_view text) {
    for (const char& byte : text) session_.write(std::string_view(&byte, 1));
  }
  // What has come, deciphered, after another look at the socket.
  const std::string& received() {
    hand_over();
    const std::string& all = raw_.received();
    session_.receive(std::string_view(all).substr(taken_));
    taken_ = all.size();
    std::array<char, 4096> buffer{};
    while (const size_t count = session_.read(buffer)) received_.append(buffer.data(), count);
    hand_over();
    return received_;
  }
  bool has_ended() {
    received();
    return raw_.has_ended();
  }
  const TlsSession& session() const { return session_; }
  RawClient& raw() { return raw_; }

 private:
  void hand_over() {
    if (!session_.output().empty() && !raw_.has_ended()) raw_.send(session_.output());
    session_.clear_output();
  }

  RawClient raw_;
  TlsSession session_;
  size_t taken_ = 0;
  std::string received_;
};

struct TlsHarness : Harness {
  explicit TlsHarness(const HttpLimits& limits = {}) : Harness(limits) {
    server->secure(serving(ClientCertificate::kOptional));
  }
  CertificateSet issued(const CertificateWish& wish) const {
    TlsTexts texts;
    authority.issue(wish, texts);
    return parse_certificate_set(texts, {});
  }
  TlsContextPtr serving(ClientCertificate wanted) const {
    return TlsContext::of_http_server(issued(kHost), wanted);
  }
  TlsContextPtr stranger() const {
    CertificateSet nothing;
    nothing.ca = parse_certificates(authority.pem(), "ca");
    return TlsContext::of_http_client(nothing);
  }
  TlsContextPtr known(const CertificateWish& wish) const {
    return TlsContext::of_http_client(issued(wish));
  }
  bool is_answered(TlsClient& client, const std::string& path = "/") {
    client.send(get(path));
    return run_until([&] {
             return client.received().find("GET " + path) != std::string::npos ||
                    client.has_ended();
           }) &&
           client.received().find("GET " + path) != std::string::npos;
  }
  void on_tls_refused(const TlsFlaw& flaw, const std::string& from) override {
    flaws.push_back(flaw);
    refused_clients.push_back(from);
  }

  Authority authority{"one"};
  std::vector<TlsFlaw> flaws;
  std::vector<std::string> refused_clients;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(server_tls)

BOOST_AUTO_TEST_CASE(a_request_and_the_next_one_are_answered) {
  TlsHarness harness;
  TlsClient client(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(client, "/one"));
  BOOST_TEST(harness.is_answered(client, "/two"));
  BOOST_TEST(harness.flaws.empty());
}

BOOST_AUTO_TEST_CASE(a_verified_certificate_goes_with_each_request) {
  TlsHarness harness;
  std::vector<std::optional<std::string>> certificates;
  bool is_over_tls = false;
  const auto usual = harness.handler;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    certificates.push_back(request.client.certificate);
    is_over_tls = request.is_over_tls;
    usual(request, reply);
  };
  TlsClient stranger(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(stranger));
  TlsClient named(harness.port, harness.known({.names = {"DNS:ops.shop"}}));
  BOOST_TEST(harness.is_answered(named));
  TlsClient nameless(harness.port, harness.known({.names = {}, .common_name = "ops"}));
  BOOST_TEST(harness.is_answered(nameless));
  BOOST_TEST_REQUIRE(certificates.size() == 3U);
  BOOST_TEST(!certificates[0].has_value());
  BOOST_TEST((certificates[1] == "ops.shop" && certificates[2] == "ops"));
  BOOST_TEST(is_over_tls);
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_over_counts_for_nothing_any_more) {
  TlsHarness harness;
  std::vector<bool> has_one;
  const auto usual = harness.handler;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    has_one.push_back(request.client.certificate.has_value());
    usual(request, reply);
  };
  CertificateWish brief{.names = {"DNS:ops.shop"}};
  brief.ends_in = std::chrono::seconds(2);
  const std::time_t end = std::time(nullptr) + 2;
  TlsClient client(harness.port, harness.known(brief));
  BOOST_TEST_REQUIRE(harness.is_answered(client, "/before"));
  BOOST_TEST_REQUIRE(harness.run_until([&] { return std::time(nullptr) > end; }));
  BOOST_TEST_REQUIRE(harness.is_answered(client, "/after"));
  BOOST_TEST(!has_one.back());
}

BOOST_AUTO_TEST_CASE(who_is_refused_is_told_and_named) {
  TlsHarness harness;
  harness.server->secure(harness.serving(ClientCertificate::kRequired));
  TlsClient client(harness.port, harness.stranger());
  BOOST_TEST(!harness.is_answered(client));
  BOOST_TEST_REQUIRE(harness.flaws.size() == 1U);
  BOOST_TEST((harness.flaws[0].reason == Rejection::kTlsNoCertificate));
  BOOST_TEST(harness.refused_clients[0].starts_with("127.0.0.1:"));
  BOOST_TEST_REQUIRE(client.session().flaw().has_value());
  BOOST_TEST((client.session().flaw()->reason == Rejection::kTlsRefused));
  BOOST_TEST(harness.requests.empty());
}

BOOST_AUTO_TEST_CASE(plain_http_is_told_so_and_the_unix_socket_stays_plain) {
  TlsHarness harness;
  BOOST_TEST(harness.exchange(get("/")).starts_with("HTTP/1.0 400 Bad Request\r\n"));
  BOOST_TEST_REQUIRE(harness.flaws.size() == 1U);
  BOOST_TEST((harness.flaws[0].reason == Rejection::kTlsPlaintext));
  const ScratchFolder folder;
  harness.server->listen_on_socket(folder.path("s"));
  RawClient local(folder.path("s"));
  local.send(get("/local"));
  harness.receive(local, "GET /local");
}

BOOST_AUTO_TEST_CASE(while_there_is_no_certificate_nobody_is_served) {
  TlsHarness harness;
  harness.server->secure(nullptr);
  RawClient plain(harness.port);
  BOOST_TEST(harness.run_until([&] { return plain.has_ended(); }));
  BOOST_TEST(harness.requests.empty());
  harness.server->secure(harness.serving(ClientCertificate::kOptional));
  TlsClient client(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(client));
}

BOOST_AUTO_TEST_CASE(after_a_rotation_no_further_request_comes_over_an_old_connection) {
  TlsHarness harness;
  TlsClient old(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(old));
  TlsClient follower(harness.port, harness.stranger());
  std::optional<HttpReply> stream;
  const auto usual =
      std::exchange(harness.handler, [&](const HttpRequest&, const HttpReply& reply) {
        reply.begin_stream("text/event-stream");
        stream = reply;
      });
  follower.send(get("/v1/events"));
  BOOST_TEST_REQUIRE(harness.run_until([&] { return !follower.received().empty(); }));
  harness.server->secure(harness.serving(ClientCertificate::kOptional));
  BOOST_TEST(harness.run_until([&] { return old.has_ended(); }));
  stream->write("still here");
  BOOST_TEST(harness.run_until(
      [&] { return follower.received().find("still here") != std::string::npos; }));
  harness.handler = usual;
  TlsClient next(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(next));
}

BOOST_AUTO_TEST_CASE(a_handshake_has_as_long_as_a_first_byte) {
  HttpLimits limits;
  limits.first = milliseconds(50);
  TlsHarness harness(limits);
  const RawClient silent(harness.port);
  RawClient slow(harness.port);
  slow.send("\x16\x03\x01");
  TlsClient idle(harness.port, harness.stranger());
  BOOST_TEST(harness.run_until([&] { return harness.limits_hit.size() == 3U; }));
  BOOST_TEST(std::ranges::all_of(harness.limits_hit,
                                 [](Limit limit) { return limit == Limit::kHttpIdle; }));
  BOOST_TEST(slow.has_ended());
}

BOOST_AUTO_TEST_CASE(beyond_the_limit_the_one_that_waits_longest_gives_way_without_a_handshake) {
  HttpLimits limits;
  limits.connections = 2;
  TlsHarness harness(limits);
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 5; ++i) silent.push_back(std::make_unique<RawClient>(harness.port));
  TlsClient client(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(client));
  BOOST_TEST(std::ranges::count(harness.limits_hit, Limit::kHttpConnections) >= 4);
}

BOOST_AUTO_TEST_CASE(beyond_the_limit_of_handshakes_the_oldest_of_the_busiest_host_gives_way) {
  HttpLimits limits;
  limits.handshakes = 3;
  TlsHarness harness(limits);
  RawClient one(harness.port, "127.0.0.3");
  std::vector<std::unique_ptr<RawClient>> many;
  for (int i = 0; i < 5; ++i) many.push_back(std::make_unique<RawClient>(harness.port));
  BOOST_TEST(harness.run_until([&] { return harness.limits_hit.size() == 3U; }));
  BOOST_TEST((harness.limits_hit.front() == Limit::kHttpHandshakes));
  BOOST_TEST(harness.run_until([&] { return many[2]->has_ended(); }));
  BOOST_TEST(!many[3]->has_ended());
  BOOST_TEST(!one.has_ended());
  TlsClient client(harness.port, harness.stranger());
  BOOST_TEST(harness.is_answered(client));
  BOOST_TEST(many[3]->has_ended());
  BOOST_TEST(!many[4]->has_ended());
  BOOST_TEST(!one.has_ended());
}

// Handshakes of many at once are done a few at a time, and the loop turns between them.
BOOST_AUTO_TEST_CASE(a_flood_of_handshakes_leaves_the_loop_its_turns) {
  TlsHarness harness;
  constexpr int kClients = 60;
  const TlsContextPtr context = harness.stranger();
  std::vector<std::unique_ptr<TlsClient>> clients;
  const auto take_turn = [&] { uv_run(harness.loop.uv(), UV_RUN_NOWAIT); };
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TlsClient>(harness.port, context));
    take_turn();  // it is let in
  }
  for (const auto& client : clients) client->send(get("/"));
  for (const auto& client : clients) client->received();  // the first flight is sent
  take_turn();
  const auto heard = std::ranges::count_if(
      clients, [](const auto& client) { return !client->raw().received().empty(); });
  BOOST_TEST(heard > 0);
  BOOST_TEST(heard < kClients);
  const auto is_answered = [](const auto& client) { return !client->received().empty(); };
  BOOST_TEST(harness.run_until([&] { return std::ranges::all_of(clients, is_answered); }));
  BOOST_TEST(harness.flaws.empty());
}

namespace {

// Clients who are let in, and send tiny records: a buffer full of them takes milliseconds.
struct Flood : TlsHarness {
  Flood() {
    uv_check_start(polled.get(), [](uv_check_t* check) { ++*static_cast<int*>(check->data); });
  }
  std::unique_ptr<TlsClient> client(const char* from) {
    auto made = std::make_unique<TlsClient>(port, context, from);
    BOOST_REQUIRE(is_answered(*made));
    return made;
  }
  bool is_heard(const std::unique_ptr<TlsClient>& client) const {
    return client->received().find(path) != std::string::npos;
  }
  void on_limit(Limit limit) override {
    if (limit == Limit::kHttpTls) held_in.push_back(polls);
    TlsHarness::on_limit(limit);
  }

  const TlsContextPtr context = stranger();
  const std::string path = "/" + std::string(2000, 'x');
  int polls = 0;
  UvPtr<uv_check_t> polled = make_handle(loop.uv(), &polls, uv_check_init);
  std::vector<int> held_in;  // after how many polls something had to wait
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_flood_of_tiny_records_leaves_the_loop_its_turns) {
  Flood flood;
  std::vector<std::unique_ptr<TlsClient>> clients;
  for (int i = 0; i < 16; ++i) clients.push_back(flood.client("127.0.0.1"));
  flood.held_in.clear();
  for (const auto& client : clients) client->send_in_records(get(flood.path));
  for (const auto& client : clients) client->received();  // all of it is sent
  BOOST_TEST(flood.run_until([&] {
    return std::ranges::all_of(clients, [&](const auto& each) { return flood.is_heard(each); });
  }));
  BOOST_TEST(!flood.held_in.empty());
  // Never twice without a look at what else has come.
  BOOST_TEST((std::ranges::adjacent_find(flood.held_in) == flood.held_in.end()));
  BOOST_TEST(flood.flaws.empty());
}

BOOST_AUTO_TEST_CASE(a_flood_from_one_host_does_not_keep_another_waiting) {
  Flood flood;
  std::vector<std::unique_ptr<TlsClient>> flooders;
  for (int i = 0; i < 16; ++i) flooders.push_back(flood.client("127.0.0.9"));
  const auto other = flood.client("127.0.0.1");
  for (const auto& flooder : flooders) flooder->send_in_records(get(flood.path));
  for (const auto& flooder : flooders) flooder->received();
  other->send(get(flood.path));
  BOOST_TEST(flood.run_until([&] { return flood.is_heard(other); }));
  BOOST_TEST(
      std::ranges::count_if(flooders, [&](const auto& each) { return flood.is_heard(each); }) < 8);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
