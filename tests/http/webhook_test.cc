// Webhooks against a server that behaves as receivers do.
#include "api/webhook.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "held_port.hh"
#include "http_harness.hh"

namespace bellwether::io::test {
namespace {

using api::HookEvent;
using api::Webhook;
using std::chrono::milliseconds;

struct HookHarness : Harness {
  HookHarness() {
    handler = [this](const HttpRequest& request, const HttpReply& reply) {
      types.push_back(*request.header("Content-Type"));
      methods.push_back(request.method);
      const auto json = parse_json(request.body);
      BOOST_REQUIRE(json.has_value());
      ids.push_back(json->at("id"));
      requests_seen.push_back(request);
      received.push_back(json->at("data").at("number"));
      respond(reply);
    };
    make(url());
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port) + "/leadership"; }
  void make(const std::string& to, Duration timeout = std::chrono::seconds(5)) {
    hook = std::make_unique<Webhook>(loop, resolver,
                                     api::WebhookSettings{.url = to, .timeout = timeout},
                                     [this](const api::HookReport& report) { on_report(report); });
    hook->secure({});
  }
  void tell(int number) {
    hook->tell({.sequence = static_cast<uint64_t>(number), .data = {{"number", number}}});
  }
  bool run_until_delivered(int count) {
    return run_until([&] { return delivered == count; });
  }

  void on_report(const api::HookReport& report) {
    switch (report.result) {
      case HookResult::kDelivered:
        ++delivered;
        return then();
      case HookResult::kFailed:
        failures.push_back(report.why);
        timeouts += report.is_timeout ? 1 : 0;
        return;
      case HookResult::kGone:
        ++hooks_gone;
        return;
      case HookResult::kSuperseded:
        ++superseded;
        return;
    }
  }

  std::function<void(const HttpReply&)> respond = [](const HttpReply& reply) {
    reply.send({.status = 204});
  };
  std::function<void()> then = [] {};  // after each delivery
  std::vector<std::string> types;
  std::vector<std::string> methods;
  std::vector<std::string> ids;
  std::vector<HttpRequest> requests_seen;
  std::vector<int> received;
  int delivered = 0;
  std::vector<std::string> failures;
  int timeouts = 0;
  int hooks_gone = 0;
  int superseded = 0;
  Resolver resolver{loop};
  std::unique_ptr<Webhook> hook;
};

// Answers with these, one after the other, then always with 204.
void respond_with(HookHarness& harness, std::vector<HttpResponse> responses) {
  harness.respond = [responses = std::move(responses),
                     at = size_t{0}](const HttpReply& reply) mutable {
    reply.send(at < responses.size() ? responses[at++] : HttpResponse{.status = 204});
  };
}

void check_received(const HookHarness& harness, const std::vector<int>& expected) {
  BOOST_TEST(harness.received == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(webhook)

BOOST_AUTO_TEST_CASE(an_event_is_posted_as_a_cloud_event) {
  HookHarness harness;
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until_delivered(1));
  BOOST_TEST(harness.methods.at(0) == "POST");
  BOOST_TEST(harness.types.at(0) == "application/cloudevents+json");
  BOOST_TEST(harness.failures.empty());
}

BOOST_AUTO_TEST_CASE(events_arrive_in_order) {
  HookHarness harness;
  for (int number = 1; number <= 20; ++number) {
    harness.tell(number);
    BOOST_REQUIRE(harness.run_until_delivered(number));
  }
  std::vector<int> expected;
  for (int number = 1; number <= 20; ++number) expected.push_back(number);
  check_received(harness, expected);
  BOOST_TEST(harness.superseded == 0);
}

BOOST_AUTO_TEST_CASE(events_between_are_superseded_while_one_is_under_way) {
  HookHarness harness;
  std::vector<HttpReply> waiting;
  harness.respond = [&](const HttpReply& reply) { waiting.push_back(reply); };
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until([&] { return waiting.size() == 1; }));
  for (int number = 2; number <= 9; ++number) harness.tell(number);
  BOOST_TEST(harness.superseded == 7);
  waiting[0].send({});
  BOOST_REQUIRE(harness.run_until([&] { return waiting.size() == 2; }));
  waiting[1].send({});
  BOOST_REQUIRE(harness.run_until_delivered(2));
  check_received(harness, {1, 9});
}

BOOST_AUTO_TEST_CASE(errors_are_retried_with_the_same_id_until_the_receiver_recovers) {
  HookHarness harness;
  respond_with(harness, {{.status = 500}, {.status = 503}});
  harness.tell(1);
  harness.tell(2);
  BOOST_REQUIRE(harness.run_until_delivered(2));
  check_received(harness, {1, 1, 1, 2});
  BOOST_TEST(harness.ids[0] == harness.ids[2]);
  BOOST_TEST(harness.ids[2] != harness.ids[3]);
  BOOST_REQUIRE(harness.failures.size() == 2u);
  BOOST_TEST(harness.failures[1] == "the answer was 503");
  BOOST_TEST(harness.timeouts == 0);
}

BOOST_AUTO_TEST_CASE(each_attempt_is_signed_with_the_id_of_its_event) {
  HookHarness harness;
  const api::SigningKeysPtr keys = api::parse_signing_keys("abcdefghijklmnopqrstuvwxyz");
  harness.hook->secure({.tls = {}, .keys = keys, .flaw = ""});
  respond_with(harness, {{.status = 500}});
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until_delivered(1));
  BOOST_TEST_REQUIRE(harness.requests_seen.size() == 2U);
  for (const HttpRequest& request : harness.requests_seen) {
    BOOST_TEST_REQUIRE(request.header("webhook-signature") != nullptr);
    BOOST_TEST(*request.header("webhook-id") == harness.ids.front());
    const int64_t seconds = std::stoll(*request.header("webhook-timestamp"));
    const HttpHeaders expected =
        api::signature_headers(*keys, harness.ids.front(), seconds, request.body);
    BOOST_TEST(*request.header("webhook-signature") == *find_header(expected, "webhook-signature"));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_before_the_files_are_read_or_while_they_are_of_no_use) {
  HookHarness harness;
  harness.hook = std::make_unique<Webhook>(
      harness.loop, harness.resolver, api::WebhookSettings{.url = harness.url()},
      [&](const api::HookReport& report) { harness.on_report(report); });
  harness.tell(1);
  harness.settle();
  BOOST_TEST(harness.received.empty());
  BOOST_TEST(harness.failures.empty());
  harness.hook->secure({.tls = {}, .keys = {}, .flaw = "hook[1].secret_file is empty"});
  BOOST_REQUIRE(harness.run_until([&] { return harness.failures.size() == 2; }));
  BOOST_TEST(harness.failures.back() == "hook[1].secret_file is empty");
  BOOST_TEST(harness.received.empty());
  harness.hook->secure({});
  BOOST_REQUIRE(harness.run_until_delivered(1));
  check_received(harness, {1});
}

BOOST_AUTO_TEST_CASE(gone_stops_the_hook) {
  HookHarness harness;
  respond_with(harness, {{.status = 410}});
  harness.tell(1);
  harness.tell(2);
  BOOST_REQUIRE(harness.run_until([&] { return harness.hooks_gone == 1; }));
  harness.tell(3);
  harness.settle();
  check_received(harness, {1});
  BOOST_TEST(harness.delivered == 0);
  BOOST_TEST(harness.failures.empty());
}

// One second is longer than the first wait can be; timers are never early.
BOOST_AUTO_TEST_CASE(retry_after_is_honoured) {
  HookHarness harness;
  std::vector<Instant> attempts;
  harness.respond = [&](const HttpReply& reply) {
    attempts.push_back(Loop::now());
    if (attempts.size() > 1) return reply.send({});
    reply.send({.status = 503, .headers = {{"Retry-After", "1"}}});
  };
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until_delivered(1));
  BOOST_REQUIRE(attempts.size() == 2u);
  BOOST_TEST((attempts[1] - attempts[0] > milliseconds(900)));
}

BOOST_AUTO_TEST_CASE(a_redirect_is_a_failure_and_is_not_followed) {
  HookHarness harness;
  respond_with(harness, {{.status = 308, .headers = {{"Location", "/elsewhere"}}}});
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until([&] { return harness.failures.size() == 1; }));
  harness.settle();
  check_received(harness, {1});
  BOOST_TEST(harness.failures[0] == "the answer was 308");
}

BOOST_AUTO_TEST_CASE(a_receiver_that_does_not_answer_is_a_timeout_and_tried_again) {
  HookHarness harness;
  harness.make(harness.url(), milliseconds(50));
  harness.respond = [&](const HttpReply& reply) {
    if (harness.timeouts > 0) reply.send({});
  };
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until_delivered(1));
  // On a slow machine an attempt may be over before it is seen, or its answer may come too late.
  BOOST_TEST(harness.timeouts > 0);
  BOOST_TEST(harness.failures.size() == static_cast<size_t>(harness.timeouts));
  BOOST_TEST(std::ranges::all_of(harness.received, [](int number) { return number == 1; }));
}

BOOST_AUTO_TEST_CASE(a_receiver_that_comes_up_later_gets_what_waited_and_the_newest) {
  HookHarness harness;
  const HeldPort later;
  harness.make("http://" + later.place().text() + "/");
  for (int number = 1; number <= 5; ++number) harness.tell(number);
  BOOST_REQUIRE(harness.run_until([&] { return harness.failures.size() == 2; }));
  BOOST_TEST(harness.failures[0].starts_with("cannot connect to 127.0.0.1:"));
  harness.tell(6);
  harness.server->listen(later.place());
  BOOST_REQUIRE(harness.run_until_delivered(2));
  check_received(harness, {1, 6});
  BOOST_TEST(harness.superseded == 4);
}

BOOST_AUTO_TEST_CASE(a_long_answer_is_a_delivery_all_the_same) {
  HookHarness harness;
  respond_with(harness, {{.body = std::string(1 << 20, 'x')}});
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until_delivered(1));
  BOOST_TEST(harness.failures.empty());
}

BOOST_AUTO_TEST_CASE(a_hook_that_is_destroyed_tells_nothing_more) {
  HookHarness harness;
  harness.respond = [](const HttpReply&) {};
  harness.tell(1);
  harness.tell(2);
  BOOST_REQUIRE(harness.run_until([&] { return harness.received.size() == 1; }));
  harness.hook.reset();
  BOOST_REQUIRE(harness.run_until([&] { return harness.gone.size() == 1; }));
  BOOST_TEST(harness.failures.empty());
}

BOOST_AUTO_TEST_CASE(an_observer_may_tell_the_next_event) {
  HookHarness harness;
  harness.then = [&] {
    if (harness.delivered < 5) harness.tell(harness.delivered + 1);
  };
  harness.tell(1);
  BOOST_REQUIRE(harness.run_until_delivered(5));
  check_received(harness, {1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
