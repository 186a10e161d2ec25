// What a webhook says, and when it says it again: without clock, loop or socket.
#include "api/hook_queue.hh"

#include <boost/test/unit_test.hpp>
#include <set>

#include "io/http/http_response_reader.hh"

namespace bellwether::api::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

HookEvent event(uint64_t sequence) { return {.sequence = sequence}; }

// The sequence of the event that is to be sent now; 0 when there is none.
uint64_t take(HookQueue& queue) {
  const HookEvent* next = queue.take();
  return next == nullptr ? 0 : next->sequence;
}

io::HttpClientResult answered(unsigned status) { return {.answer = {.status = status}}; }

std::optional<Duration> retry_after_of(const std::string& text) {
  // Sun, 06 Nov 1994 08:49:37 GMT
  const auto now = std::chrono::system_clock::from_time_t(784111777);
  return io::retry_after({.status = 503, .headers = {{"retry-after", text}}}, now);
}

// The wait after the event has failed so many times.
Duration wait_after(int failures, HookOutcome outcome, uint64_t seed,
                    std::optional<Duration> retry = {}) {
  HookQueue queue(seed);
  queue.push(event(1));
  Duration wait{};
  for (int i = 0; i < failures; ++i) {
    BOOST_REQUIRE(take(queue) == 1);
    wait = queue.on_outcome(outcome, retry).value();
    BOOST_REQUIRE(take(queue) == 0);
    queue.due();
  }
  return wait;
}

void check_between(Duration wait, Duration least, Duration most) {
  BOOST_TEST(wait.count() >= least.count());
  BOOST_TEST(wait.count() <= most.count());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hook_queue)

BOOST_AUTO_TEST_CASE(events_go_out_in_order_one_at_a_time) {
  HookQueue queue(1);
  BOOST_TEST(take(queue) == 0u);
  BOOST_TEST(!queue.push(event(1)));
  BOOST_TEST(!queue.push(event(2)));
  BOOST_TEST(take(queue) == 1u);
  BOOST_TEST(take(queue) == 0u);
  BOOST_TEST(!queue.on_outcome(HookOutcome::kDelivered, {}).has_value());
  BOOST_TEST(take(queue) == 2u);
  BOOST_TEST(!queue.on_outcome(HookOutcome::kDelivered, {}).has_value());
  BOOST_TEST(take(queue) == 0u);
}

BOOST_AUTO_TEST_CASE(while_one_is_delivered_the_newest_takes_the_place_of_those_between) {
  HookQueue queue(1);
  queue.push(event(1));
  BOOST_TEST(take(queue) == 1u);
  BOOST_TEST(!queue.push(event(2)));
  BOOST_TEST(queue.push(event(3)));
  BOOST_TEST(queue.on_outcome(HookOutcome::kFailed, {}).has_value());
  BOOST_TEST(queue.push(event(4)));
  queue.due();
  BOOST_TEST(take(queue) == 1u);
  queue.on_outcome(HookOutcome::kDelivered, {});
  BOOST_TEST(take(queue) == 4u);
  queue.on_outcome(HookOutcome::kDelivered, {});
  BOOST_TEST(take(queue) == 0u);
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_before_the_wait_is_over) {
  HookQueue queue(1);
  queue.push(event(1));
  take(queue);
  queue.on_outcome(HookOutcome::kFailed, {});
  queue.push(event(2));
  BOOST_TEST(take(queue) == 0u);
  queue.due();
  BOOST_TEST(take(queue) == 1u);
}

BOOST_AUTO_TEST_CASE(waits_double_up_to_the_longest_and_are_spread) {
  for (uint64_t seed = 1; seed < 200; ++seed) {
    for (int failures = 1; failures <= 60; ++failures) {
      const Duration base = std::min<Duration>(
          milliseconds(200) * (int64_t{1} << std::min(failures - 1, 20)), seconds(30));
      check_between(wait_after(failures, HookOutcome::kFailed, seed), base / 2, base * 3 / 2);
    }
  }
  std::set<int64_t> waits;
  for (uint64_t seed = 1; seed < 100; ++seed) {
    waits.insert(wait_after(3, HookOutcome::kFailed, seed).count());
  }
  BOOST_TEST(waits.size() > 50u);
}

BOOST_AUTO_TEST_CASE(a_delivery_starts_the_waits_anew) {
  HookQueue queue(1);
  queue.push(event(1));
  for (int i = 0; i < 20; ++i) {
    take(queue);
    queue.on_outcome(HookOutcome::kFailed, {});
    queue.due();
  }
  take(queue);
  queue.on_outcome(HookOutcome::kDelivered, {});
  queue.push(event(2));
  BOOST_TEST(take(queue) == 2u);
  check_between(queue.on_outcome(HookOutcome::kFailed, {}).value(), milliseconds(100),
                milliseconds(300));
}

BOOST_AUTO_TEST_CASE(what_was_rejected_is_retried_slowly_at_once) {
  check_between(wait_after(1, HookOutcome::kRejected, 1), seconds(15), seconds(45));
}

BOOST_AUTO_TEST_CASE(a_receiver_may_ask_for_more_time_up_to_five_minutes) {
  const auto wait = [](std::optional<Duration> asked) {
    return wait_after(1, HookOutcome::kFailed, 1, asked);
  };
  BOOST_TEST((wait(seconds(7)) == seconds(7)));
  BOOST_TEST((wait(minutes(5)) == minutes(5)));
  BOOST_TEST((wait(minutes(6)) == minutes(5)));
  check_between(wait(seconds(0)), milliseconds(100), milliseconds(300));
}

BOOST_AUTO_TEST_CASE(gone_is_for_good) {
  HookQueue queue(1);
  queue.push(event(1));
  take(queue);
  queue.push(event(2));
  BOOST_TEST(!queue.on_outcome(HookOutcome::kGone, {}).has_value());
  BOOST_TEST(queue.is_gone());
  BOOST_TEST(take(queue) == 0u);
  BOOST_TEST(!queue.push(event(3)));
  BOOST_TEST(!queue.push(event(4)));
  BOOST_TEST(take(queue) == 0u);
}

BOOST_AUTO_TEST_CASE(the_status_tells_what_became_of_it) {
  for (const unsigned status : {200U, 202U, 204U, 299U}) {
    BOOST_TEST((outcome_of(answered(status)) == HookOutcome::kDelivered));
  }
  for (const unsigned status : {408U, 425U, 429U, 500U, 503U, 599U}) {
    BOOST_TEST((outcome_of(answered(status)) == HookOutcome::kFailed));
  }
  for (const unsigned status : {300U, 301U, 304U, 307U, 400U, 401U, 404U, 413U, 499U}) {
    BOOST_TEST((outcome_of(answered(status)) == HookOutcome::kRejected));
  }
  BOOST_TEST((outcome_of(answered(410)) == HookOutcome::kGone));
  BOOST_TEST((outcome_of({.failure = io::HttpFailure::kTimeout}) == HookOutcome::kFailed));
}

BOOST_AUTO_TEST_CASE(retry_after_is_seconds_or_a_date) {
  BOOST_TEST((retry_after_of("120") == seconds(120)));
  BOOST_TEST((retry_after_of("0") == seconds(0)));
  BOOST_TEST((retry_after_of("Sun, 06 Nov 1994 08:50:37 GMT") == seconds(60)));
  BOOST_TEST((retry_after_of("Sun, 06 Nov 1994 08:40:37 GMT") == seconds(0)));
  BOOST_TEST((retry_after_of("99999999999999999999999").value() > minutes(5)));
  BOOST_TEST((retry_after_of("Fri, 31 Dec 9999 23:59:59 GMT").value() > minutes(5)));
  for (const char* text : {"", "soon", "-1", "1.5", "12 ", "Sun, 06 Nov 1994 08:50:37 GMT!",
                           "Sun, 06 Nov 1994 08:50:37"}) {
    BOOST_TEST_CONTEXT(text) { BOOST_TEST(!retry_after_of(text).has_value()); }
  }
  BOOST_TEST(!io::retry_after({.status = 503}, {}).has_value());
}

BOOST_AUTO_TEST_CASE(an_event_is_a_cloud_event_in_structured_mode) {
  const HookSource source{.group = "orders", .node = "orders/0 a", .boot = 0xBE};
  const std::string text = to_cloud_event(source, {.type = HookEventType::kElected,
                                                   .subject = "orders-2",
                                                   .sequence = 17,
                                                   .time = "2026-01-31T09:05:00.250Z",
                                                   .data = {{"epoch", 4}}});
  BOOST_TEST(text == R"({"specversion":"1.0","id":"00000000000000be-17",)"
                     R"("source":"/bellwether/orders/orders%2F0%20a",)"
                     R"("type":"io.bellwether.leader.elected","subject":"orders-2",)"
                     R"("time":"2026-01-31T09:05:00.250Z","sequence":"00000000000000000017",)"
                     R"("datacontenttype":"application/json","data":{"epoch":4}})");
}

BOOST_AUTO_TEST_CASE(no_subject_is_left_out_because_it_must_not_be_empty) {
  const auto json = parse_json(
      to_cloud_event({}, {.type = HookEventType::kLost, .sequence = UINT64_MAX, .data = {}}));
  BOOST_REQUIRE(json.has_value());
  BOOST_TEST(!json->contains("subject"));
  BOOST_TEST(json->at("type") == "io.bellwether.leader.lost");
  BOOST_TEST(json->at("sequence") == "18446744073709551615");
}

BOOST_AUTO_TEST_CASE(what_is_no_utf_8_makes_no_broken_event) {
  const auto json = parse_json(to_cloud_event({}, {.subject = "a\xFFz"}));
  BOOST_REQUIRE(json.has_value());
  BOOST_TEST(json->at("subject") == "a\xEF\xBF\xBDz");
  BOOST_TEST(!parse_json("{").has_value());
}

BOOST_AUTO_TEST_CASE(ids_differ_with_the_boot_and_the_sequence) {
  BOOST_TEST(event_id({.boot = 1}, 2) == event_id({.boot = 1}, 2));
  BOOST_TEST(event_id({.boot = 1}, 2) != event_id({.boot = 2}, 2));
  BOOST_TEST(event_id({.boot = 1}, 2) != event_id({.boot = 1}, 3));
  BOOST_TEST(std::string(name(HookEventType::kChanged)) == "io.bellwether.leader.changed");
  BOOST_TEST(std::string(name(HookEventType::kDraining)) == "io.bellwether.leader.draining");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::api::test
