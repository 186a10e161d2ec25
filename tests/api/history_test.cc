// The last elections.
#include "api/history.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

metrics::ElectionSummary won() {
  return {.trigger = metrics::Trigger::kLeaderLost,
          .result = metrics::Result::kWon,
          .messages = {.election = 2, .answer = 1, .handover = 1, .coordinator = 3},
          .duration = 12500us};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(election_history, ApiFixture)

BOOST_AUTO_TEST_CASE(is_empty_at_first) {
  const Json body = get("/v1/history")->json();
  BOOST_TEST(body["group"] == "orders");
  BOOST_TEST(body["elections"].empty());
  BOOST_TEST(body["leaders"].dump() ==
             R"([{"time":"2026-01-31T09:00:00.000Z","leader":null,"epoch":0,)"
             R"("is_draining":false,"reason":"started"}])");
}

// It is no election, and the node that gave its place knows the reason.
BOOST_AUTO_TEST_CASE(shows_a_hand_over) {
  lead();
  feed.on_publish({.epoch = 1, .why = Why::kHandedOver}, node.node().members(), wall_time(7));
  const Json leaders = get("/v1/history")->json()["leaders"];
  BOOST_REQUIRE(leaders.size() == 3u);
  BOOST_TEST(leaders[0].dump() == R"({"time":"2026-01-31T09:00:07.000Z","leader":null,"epoch":1,)"
                                  R"("is_draining":false,"reason":"handed over"})");
  BOOST_TEST(leaders[1]["leader"] == "node-3");
}

BOOST_AUTO_TEST_CASE(shows_the_newest_election_first) {
  lead();
  history.on_election(won(), "modified", feed.current(), wall_time(5));
  const api::Leadership nobody{.epoch = 1};
  history.on_election({.trigger = metrics::Trigger::kRetry, .result = metrics::Result::kAbandoned},
                      "classic", nobody, wall_time(6));
  const auto expected = parse_json(R"([
      {"time":"2026-01-31T09:00:06.000Z","trigger":"retry","variant":"classic",
       "result":"abandoned","winner":null,"epoch":null,
       "messages":{"election":0,"answer":0,"handover":0,"coordinator":0,"total":0},
       "duration_ms":null},
      {"time":"2026-01-31T09:00:05.000Z","trigger":"leader_lost","variant":"modified",
       "result":"won","winner":{"name":"node-3","id":"00000000-0000-0000-0000-000000000003",
                                "address":"10.0.0.3:7946"},"epoch":1,
       "messages":{"election":2,"answer":1,"handover":1,"coordinator":3,"total":7},
       "duration_ms":12}])");
  BOOST_TEST(get("/v1/history")->json()["elections"].dump() == expected->dump());
}

BOOST_AUTO_TEST_CASE(keeps_the_last_256) {
  for (uint64_t i = 0; i <= api::ElectionHistory::kMaxKept; ++i) {
    history.on_election(won(), "modified", feed.current(), wall_time(static_cast<int64_t>(i)));
  }
  BOOST_TEST(history.elections().size() == api::ElectionHistory::kMaxKept);
  BOOST_TEST((history.elections().back().ended == wall_time(1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
