// What becomes of requests and of a watch, whatever a server does.
#include "io/store/store_client.hh"

#include <boost/test/unit_test.hpp>
#include <deque>

#include "base/json.hh"
#include "http_harness.hh"
#include "io/store/kubernetes_lease.hh"
#include "listening_socket.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string lease(const std::string& version, const std::string& holder = "somebody") {
  return R"({"kind":"Lease","metadata":{"name":"orders","resourceVersion":")" + version +
         R"("},"spec":{"holderIdentity":")" + holder + R"(","leaseDurationSeconds":15}})";
}

std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// As it is after the write that was asked for.
std::string written_by(const HttpRequest& request) {
  Json json = *parse_json(request.body);
  json["kind"] = "Lease";
  json["metadata"]["resourceVersion"] = "7";
  return dump(json);
}

// Everything that a client says, as words.
struct Told : StoreListener {
  std::deque<std::string> words;
  std::vector<StoreRequestReport> reports;
  int conditions = 0;
  int refused_secrets = 0;
  std::function<void()> on_told = [] {};

  void tell(const std::string& what) {
    words.push_back(what);
    on_told();
  }
  void on_store_seen(uint64_t number, const StoreSight& sight) override {
    tell("seen " + std::to_string(number) + " " +
         (sight.version.empty() ? "none" : sight.version + " " + sight.record.name));
  }
  void on_store_written(uint64_t number, const StoreVersion& version) override {
    tell("written " + std::to_string(number) + " " + version);
  }
  void on_store_conflict(uint64_t number, const std::optional<StoreSight>& found) override {
    tell("conflict " + std::to_string(number) + (found ? " found" : ""));
  }
  void on_store_failed(uint64_t number, StoreFailure failure, Duration retry_after) override {
    tell("failed " + std::to_string(number) + " " + name(failure) +
         (retry_after > Duration::zero() ? " wait" : ""));
  }
  void on_store_request(const StoreRequestReport& report) override { reports.push_back(report); }
  void on_store_condition() override { ++conditions; }
  void on_store_secret_refused() override { ++refused_secrets; }
};

struct ClientHarness : Harness {
  explicit ClientHarness(uint16_t other_port = 0)
      : client(loop, resolver,
               kubernetes_lease({.server = "http://127.0.0.1:" +
                                           std::to_string(other_port == 0 ? port : other_port),
                                 .namespace_name = "shop",
                                 .lease_name = "orders"}),
               told, 1) {
    client.secure({.secret = Secret("secret")});
    handler = [this](const HttpRequest& request, const HttpReply& reply) {
      asked.push_back(request.method);
      clients.push_back(request.client.address);
      if (request.query.contains("watch")) {
        watches.push_back(reply);
        reply.begin_stream("application/json");
      } else {
        held.push_back(reply);
        const bool is_write = request.method != "GET";
        if (!is_holding) reply.send({.body = is_write ? written_by(request) : lease("7")});
      }
    };
  }

  std::string next() {
    BOOST_REQUIRE(run_until([&] { return !told.words.empty(); }));
    const std::string first = told.words.front();
    told.words.pop_front();
    return first;
  }

  Resolver resolver{loop};
  Told told;
  StoreClient client;
  bool is_holding = false;
  std::vector<std::string> asked;
  std::vector<std::string> clients;
  std::vector<HttpReply> held;
  std::vector<HttpReply> watches;
};

// What a read comes to at a server that answers these bytes and closes.
std::string outcome_of(const std::string& answer, Told* all = nullptr) {
  const ListeningSocket socket;
  ClientHarness harness(socket.port());
  harness.client.read(1, seconds(5));
  socket.answer_once(harness.loop, answer);
  const std::string outcome = harness.next();
  if (all != nullptr) *all = harness.told;
  return outcome;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(store_client)

BOOST_AUTO_TEST_CASE(requests_are_answered_over_one_connection) {
  ClientHarness harness;
  harness.client.read(1, seconds(5));
  BOOST_TEST(harness.next() == "seen 1 7 somebody");
  harness.client.write(2, seconds(5), "6", {});
  BOOST_TEST(harness.next() == "written 2 7");
  harness.client.write(3, seconds(5), "", {});
  BOOST_TEST(harness.next() == "written 3 7");
  BOOST_TEST(harness.asked == (std::vector<std::string>{"GET", "PATCH", "POST"}),
             boost::test_tools::per_element());
  BOOST_TEST(harness.clients[0] == harness.clients[2]);
  BOOST_REQUIRE(harness.told.reports.size() == 3u);
  BOOST_TEST((harness.told.reports[2].verb == StoreVerb::kWrite));
  BOOST_TEST((harness.told.reports[2].took > Duration::zero()));
}

BOOST_AUTO_TEST_CASE(a_new_request_ends_the_one_before_with_its_connection) {
  ClientHarness harness;
  harness.is_holding = true;
  harness.client.write(1, seconds(60), "6", {});
  BOOST_REQUIRE(harness.run_until([&] { return harness.held.size() == 1; }));
  harness.is_holding = false;
  harness.client.read(2, seconds(60));
  BOOST_TEST(harness.next() == "seen 2 7 somebody");
  BOOST_REQUIRE(harness.run_until([&] { return harness.gone.size() == 1; }));
  BOOST_TEST(harness.told.words.empty());
  BOOST_TEST(harness.clients[0] != harness.clients[1]);
}

BOOST_AUTO_TEST_CASE(who_has_refused_is_asked_over_a_new_connection) {
  ClientHarness harness;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    harness.clients.push_back(request.client.address);
    reply.send({.status = 503});
  };
  for (uint64_t number = 1; number <= 2; ++number) {
    harness.client.read(number, seconds(5));
    BOOST_TEST(harness.next() == "failed " + std::to_string(number) + " unavailable");
  }
  BOOST_TEST(harness.clients[0] != harness.clients[1]);
}

BOOST_AUTO_TEST_CASE(the_newest_trouble_is_the_one_that_is_told) {
  ClientHarness harness;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    reply.send({.status = request.query.contains("watch") ? 403u : 503u});
  };
  harness.client.read(1, seconds(5));
  BOOST_TEST(harness.next() == "failed 1 unavailable");
  harness.client.watch(true);
  BOOST_TEST(harness.next() == "failed 0 forbidden");
  BOOST_TEST((harness.client.condition().failure == StoreFailure::kForbidden));
  harness.client.watch(false);
  harness.client.read(2, seconds(5));
  BOOST_TEST(harness.next() == "failed 2 unavailable");
  BOOST_TEST((harness.client.condition().failure == StoreFailure::kUnavailable));
}

BOOST_AUTO_TEST_CASE(a_read_says_nothing_about_writes_that_are_refused) {
  ClientHarness harness;
  unsigned write_status = 503;
  std::string version = "7";
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    if (request.method == "GET") return reply.send({.body = lease(version)});
    reply.send({.status = write_status, .body = written_by(request)});
  };
  const auto failure_after_read = [&](uint64_t number) {
    harness.client.read(number, seconds(5));
    BOOST_TEST(harness.next() == "seen " + std::to_string(number) + " " + version + " somebody");
    return harness.client.condition().failure;
  };
  harness.client.write(1, seconds(5), "7", {});
  BOOST_TEST(harness.next() == "failed 1 unavailable");
  BOOST_TEST((failure_after_read(2) == StoreFailure::kUnavailable));
  version = "8";  // somebody could
  BOOST_TEST(!failure_after_read(3));
  write_status = 403;
  harness.client.write(4, seconds(5), "8", {});
  BOOST_TEST(harness.next() == "failed 4 forbidden");
  version = "9";
  BOOST_TEST((failure_after_read(5) == StoreFailure::kForbidden));
  write_status = 200;
  harness.client.write(6, seconds(5), "9", {});
  BOOST_TEST(harness.next() == "written 6 7");
  BOOST_TEST(harness.client.condition().trouble.empty());
}

BOOST_AUTO_TEST_CASE(a_rehearsal_is_a_write_that_is_dry) {
  ClientHarness harness;
  std::vector<std::string> rehearsed;
  harness.handler = [&](const HttpRequest& request, const HttpReply& reply) {
    if (request.query.contains("dryRun")) rehearsed.push_back(request.method + " " + request.body);
    reply.send({.body = lease("7")});
  };
  harness.client.read(1, seconds(5));
  harness.next();
  harness.client.rehearse(2, seconds(5));
  BOOST_TEST(harness.next() == "written 2 7");
  BOOST_TEST(rehearsed == std::vector<std::string>{"PATCH {}"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(whoever_watches_has_a_connection_for_its_next_request) {
  ClientHarness harness;
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  harness.watches[0].write(event("ADDED", lease("7")));
  BOOST_REQUIRE(harness.run_until([&] { return !harness.told.reports.empty(); }));
  harness.client.write(1, seconds(5), "7", {});
  while (harness.next() != "written 1 7") continue;
  BOOST_REQUIRE(harness.clients.size() == 3u);
  BOOST_TEST(harness.clients[2] == harness.clients[1]);
}

BOOST_AUTO_TEST_CASE(patience_ends_and_the_next_request_has_a_new_connection) {
  ClientHarness harness;
  harness.client.read(1, seconds(5));
  harness.next();
  harness.is_holding = true;
  harness.client.write(2, milliseconds(500), "7", {});  // a busy machine takes some to write it
  BOOST_TEST(harness.next() == "failed 2 timeout");
  BOOST_TEST(harness.client.condition().trouble.find("no whole answer within 500ms") !=
             std::string::npos);
  harness.is_holding = false;
  harness.client.read(3, seconds(5));
  BOOST_TEST(harness.next() == "seen 3 7 somebody");
  BOOST_TEST(harness.clients[0] == harness.clients[1]);
  BOOST_TEST(harness.clients[1] != harness.clients[2]);
  BOOST_TEST(harness.client.condition().trouble == "");
  BOOST_TEST(harness.told.conditions == 2);
}

BOOST_AUTO_TEST_CASE(a_write_without_an_answer_is_not_repeated) {
  const ListeningSocket socket;
  ClientHarness harness(socket.port());
  harness.client.write(1, seconds(5), "6", {});
  socket.answer_once(harness.loop, "");
  BOOST_TEST(harness.next() == "failed 1 unreachable");
  BOOST_TEST(harness.told.reports.size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_redirect_is_followed) {
  BOOST_TEST(outcome_of("HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:1/\r\n"
                        "Content-Length: 0\r\n\r\n") == "failed 1 malformed");
}

BOOST_AUTO_TEST_CASE(strange_answers_have_a_kind) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  BOOST_TEST(outcome_of("HTTP/1.0 200 OK\r\n\r\n" + lease("7")) == "seen 1 7 somebody");
  BOOST_TEST(outcome_of(ok + "Content-Length: 900\r\n\r\n" + lease("7")) == "failed 1 unreachable");
  BOOST_TEST(outcome_of("SSH-2.0-OpenSSH_9.2\r\n") == "failed 1 malformed");
  BOOST_TEST(outcome_of(ok + "Content-Length: 2\r\n\r\n{}") == "failed 1 malformed");
  BOOST_TEST(outcome_of("HTTP/1.1 429 T\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n") ==
             "failed 1 throttled wait");
  Told told;
  BOOST_TEST(outcome_of(ok + "Content-Length: 999999999999\r\n\r\n" +
                            std::string(kMaxStoreAnswer + 1, ' '),
                        &told) == "failed 1 malformed");
}

BOOST_AUTO_TEST_CASE(a_secret_that_is_refused_is_read_again) {
  Told told;
  BOOST_TEST(outcome_of("HTTP/1.1 401 U\r\nContent-Length: 0\r\n\r\n", &told) ==
             "failed 1 unauthorized");
  BOOST_TEST(told.refused_secrets == 1);
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
  uint16_t port = 0;
  { port = ListeningSocket().port(); }
  ClientHarness harness(port);
  harness.client.read(1, seconds(5));
  BOOST_TEST(harness.next() == "failed 1 unreachable");
  const StoreCondition condition = harness.client.condition();
  BOOST_TEST(condition.server == "http://127.0.0.1:" + std::to_string(port));
  BOOST_TEST((condition.failure == StoreFailure::kUnreachable));
  BOOST_TEST(condition.trouble ==
             "cannot connect to 127.0.0.1:" + std::to_string(port) + ": connection refused");
}

BOOST_AUTO_TEST_CASE(files_of_no_use_are_told_from_within_the_loop) {
  ClientHarness harness;
  harness.client.secure({.flaw = "kubernetes.token_file /t is empty"});
  harness.client.read(1, seconds(5));
  BOOST_TEST(harness.told.words.empty());
  BOOST_TEST(harness.next() == "failed 1 unauthorized");
  BOOST_TEST(harness.client.condition().trouble == "kubernetes.token_file /t is empty");
  BOOST_TEST(harness.asked.empty());
}

BOOST_AUTO_TEST_CASE(the_next_request_may_be_made_when_the_last_is_told) {
  ClientHarness harness;
  uint64_t number = 1;
  harness.told.on_told = [&] {
    if (number < 20) harness.client.read(++number, seconds(5));
  };
  harness.client.read(number, seconds(5));
  BOOST_REQUIRE(harness.run_until([&] { return harness.told.words.size() == 20; }));
}

BOOST_AUTO_TEST_CASE(a_watch_tells_what_changes) {
  ClientHarness harness;
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  harness.watches[0].write(event("ADDED", lease("7")));
  BOOST_TEST(harness.next() == "seen 0 7 somebody");
  const std::string modified = event("MODIFIED", lease("8", "other"));
  harness.watches[0].write(modified.substr(0, 50));
  harness.settle();
  BOOST_TEST(harness.told.words.empty());
  harness.watches[0].write(modified.substr(50));
  BOOST_TEST(harness.next() == "seen 0 8 other");
  harness.watches[0].write(event("DELETED", lease("9")));
  BOOST_TEST(harness.next() == "seen 0 none");
}

BOOST_AUTO_TEST_CASE(of_changes_that_come_together_the_last_counts) {
  ClientHarness harness;
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  harness.watches[0].write(event("ADDED", lease("7")) + event("MODIFIED", lease("8")));
  BOOST_TEST(harness.next() == "seen 0 8 somebody");
}

BOOST_AUTO_TEST_CASE(a_watch_that_ends_goes_on_and_says_what_was_seen) {
  ClientHarness harness;
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  harness.watches[0].write(event("ADDED", lease("7")));
  harness.watches[0].end_stream();
  BOOST_TEST(harness.next() == "seen 0 7 somebody");
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 2; }));
  BOOST_TEST(harness.told.words.empty());
  BOOST_TEST(harness.client.condition().trouble == "");
}

BOOST_AUTO_TEST_CASE(an_error_ends_a_watch_and_a_good_one_ends_the_trouble) {
  ClientHarness harness;
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  harness.watches[0].write(
      event("ERROR", R"({"kind":"Status","code":500,"message":"etcd is away"})"));
  BOOST_TEST(harness.next() == "failed 0 unavailable");
  BOOST_TEST(harness.client.condition().trouble.find("etcd is away") != std::string::npos);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 2; }));
  harness.watches[1].write(event("ADDED", lease("7")));
  BOOST_TEST(harness.next() == "seen 0 7 somebody");
  BOOST_TEST(harness.client.condition().trouble == "");
}

BOOST_AUTO_TEST_CASE(a_watch_without_an_end_of_its_line_is_given_up) {
  ClientHarness harness;
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  size_t sent = 0;
  const std::string piece(size_t{16} * 1024, 'x');
  BOOST_REQUIRE(harness.run_until([&] {
    if (sent <= 2 * kMaxStoreAnswer && harness.watches[0].write(piece)) sent += piece.size();
    return !harness.told.words.empty();
  }));
  BOOST_TEST(harness.next() == "failed 0 malformed");
}

BOOST_AUTO_TEST_CASE(a_watch_may_be_ended_when_it_tells_something) {
  ClientHarness harness;
  harness.told.on_told = [&] { harness.client.watch(false); };
  harness.client.watch(true);
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
  harness.watches[0].write(event("ADDED", lease("7")));
  BOOST_TEST(harness.next() == "seen 0 7 somebody");
  BOOST_REQUIRE(harness.run_until([&] { return harness.gone.size() == 1; }));
  harness.settle();
  BOOST_TEST(harness.watches.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_watch_waits_for_files_of_use) {
  ClientHarness harness;
  harness.client.secure({.flaw = "no token"});
  harness.client.watch(true);
  BOOST_TEST(harness.next() == "failed 0 unauthorized");
  harness.client.secure({.secret = Secret("secret")});
  BOOST_REQUIRE(harness.run_until([&] { return harness.watches.size() == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
