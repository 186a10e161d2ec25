// Effects become metrics: each kind by hand.  How whole elections are counted: elections_test.cc.
#include "metrics/core_observer.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <vector>

#include "scrape.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;
using metrics::CoreObserver;
using metrics::Metrics;

MemberEntry entry(uint8_t number, const std::string& name) {
  MemberEntry entry{.name = name, .address = name + ":7946", .priority = 100, .boot = 1};
  entry.id.data[15] = number;
  return entry;
}

metrics::Identity identity() {
  metrics::Identity identity = sample_identity();
  identity.variants = {"modified", "classic"};
  return identity;
}

struct CoreObserverFixture {
  CoreObserverFixture() {
    members.put(one, {});
    members.put(two, {});
    observer.on_effect({}, MembersChanged{});
  }

  double value(const std::string& series, Instant now = {}) {
    const Scrape all = scrape(metrics, now);
    const auto found = all.find(series);
    return found == all.end() ? -1 : found->second;
  }
  const MemberEntry self = entry(0, "orders-0");
  const MemberEntry one = entry(1, "orders-1");
  const MemberEntry two = entry(2, "orders-2");
  Metrics metrics{identity()};
  Members members{self};
  std::string variant = "modified";
  CoreObserver observer{metrics, members, Record{.max_epoch = 4}, variant};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(core_observer, CoreObserverFixture)

BOOST_AUTO_TEST_CASE(the_stored_epoch_shows_at_once) { BOOST_TEST(value("bellwether_epoch") == 4); }

BOOST_AUTO_TEST_CASE(a_newly_seen_epoch_shows) {
  observer.on_effect({}, Persist{Record{.max_epoch = 9}});
  BOOST_TEST(value("bellwether_epoch") == 9);
}

BOOST_AUTO_TEST_CASE(the_epoch_never_falls) {
  observer.on_effect({}, Persist{Record{.max_epoch = 7}});
  observer.on_effect({}, Persist{Record{.max_epoch = 3}});
  BOOST_TEST(value("bellwether_epoch") == 7);
}

BOOST_AUTO_TEST_CASE(own_leadership_shows_until_its_end) {
  observer.on_effect({}, Publish{.is_leader = true,
                                 .epoch = 5,
                                 .leader = self.id,
                                 .valid_until = at(800ms),
                                 .why = Why::kClaimed});
  BOOST_TEST(value("bellwether_is_leader", at(700ms)) == 1);
  BOOST_TEST(value("bellwether_is_leader", at(800ms)) == 0);
  BOOST_TEST(value("bellwether_epoch") == 5);
  BOOST_TEST(value(R"(bellwether_leader_info{leader="orders-0"})") == 1);
}

BOOST_AUTO_TEST_CASE(a_beat_renews_leadership_and_is_no_change) {
  Publish publish{.is_leader = true,
                  .epoch = 5,
                  .leader = self.id,
                  .valid_until = at(800ms),
                  .why = Why::kClaimed};
  observer.on_effect({}, publish);
  publish.valid_until = at(900ms);
  publish.why.reset();
  observer.on_effect(at(100ms), publish);
  BOOST_TEST(value("bellwether_is_leader", at(850ms)) == 1);
  BOOST_TEST(value(R"(bellwether_leader_changes_total{reason="claimed"})") == 1);
}

BOOST_AUTO_TEST_CASE(the_start_changes_no_leader) {
  observer.on_effect({}, Publish{.why = Why::kStarted});
  BOOST_TEST(value(R"(bellwether_leader_changes_total{reason="other"})") == 0);
  BOOST_TEST(value("bellwether_leader_known") == 0);
}

BOOST_AUTO_TEST_CASE(a_leader_comes_and_goes) {
  observer.on_effect({}, Publish{.epoch = 5, .leader = two.id, .why = Why::kAnnounced});
  BOOST_TEST(value(R"(bellwether_leader_info{leader="orders-2"})") == 1);
  BOOST_TEST(value("bellwether_is_leader") == 0);
  observer.on_effect({}, Publish{.why = Why::kLeaderLost});
  BOOST_TEST(value(R"(bellwether_leader_info{leader="orders-2"})") == -1);
  BOOST_TEST(value("bellwether_leader_known") == 0);
  BOOST_TEST(value(R"(bellwether_leader_changes_total{reason="announced"})") == 1);
  BOOST_TEST(value(R"(bellwether_leader_changes_total{reason="lost"})") == 1);
}

BOOST_AUTO_TEST_CASE(the_same_leader_in_a_new_epoch_is_no_change) {
  for (const uint64_t epoch : {5u, 6u}) {
    observer.on_effect({}, Publish{.epoch = epoch, .leader = two.id, .why = Why::kAnnounced});
  }
  BOOST_TEST(value(R"(bellwether_leader_changes_total{reason="announced"})") == 1);
  BOOST_TEST(value("bellwether_epoch") == 6);
}

BOOST_AUTO_TEST_CASE(since_when_a_leader_leads_outlives_its_renaming_and_a_new_epoch) {
  const std::string since = "bellwether_leader_since_timestamp_seconds";
  Publish publish{.epoch = 5, .leader = two.id, .why = Why::kAnnounced};
  observer.on_effect(at(3s), publish);
  publish.epoch = 6;
  observer.on_effect(at(4s), publish);
  members.put(entry(2, "renamed"), {});
  observer.on_effect(at(5s), MembersChanged{});
  BOOST_TEST(value(since, at(9s)) == kWallClockAtZero + 3);
  observer.on_effect(at(6s), Publish{.why = Why::kLeaderLost});
  BOOST_TEST(value(since, at(9s)) == 0);
}

BOOST_AUTO_TEST_CASE(the_variant_shows_from_the_start_and_as_soon_as_it_is_another) {
  BOOST_TEST(value(R"(bellwether_active_variant{variant="modified"})") == 1);
  variant = "classic";
  observer.on_effect({}, Remark{"elects by the variant that all want from now on"});
  BOOST_TEST(value(R"(bellwether_active_variant{variant="modified"})") == 0);
  BOOST_TEST(value(R"(bellwether_active_variant{variant="classic"})") == 1);
}

BOOST_AUTO_TEST_CASE(a_leader_that_nobody_knows_any_more_is_called_by_its_id) {
  const MemberEntry stranger = entry(9, "");
  observer.on_effect({}, Publish{.epoch = 5, .leader = stranger.id, .why = Why::kAnnounced});
  BOOST_TEST(value("bellwether_leader_info{leader=\"" + to_string(stranger.id) + "\"}") == 1);
}

BOOST_AUTO_TEST_CASE(a_leader_that_comes_back_under_another_name_is_called_by_it) {
  observer.on_effect({}, Publish{.epoch = 5, .leader = two.id, .why = Why::kAnnounced});
  members.put(entry(2, "renamed"), {});
  observer.on_effect({}, MembersChanged{});
  BOOST_TEST(value(R"(bellwether_leader_info{leader="orders-2"})") == -1);
  BOOST_TEST(value(R"(bellwether_leader_info{leader="renamed"})") == 1);
}

BOOST_AUTO_TEST_CASE(members_are_counted_with_this_node_among_them) {
  BOOST_TEST(value(R"(bellwether_members{state="alive"})") == 3);
  members.set_liveness(*members.find(one.id), Liveness::kDown, {});
  observer.on_effect({}, MembersChanged{});
  BOOST_TEST(value(R"(bellwether_members{state="alive"})") == 2);
  BOOST_TEST(value(R"(bellwether_members{state="down"})") == 1);
}

BOOST_AUTO_TEST_CASE(each_timeout_has_its_own_name) {
  for (const Awaited what : {Awaited::kHeartbeat, Awaited::kJoin, Awaited::kAnswer}) {
    observer.on_effect({}, TimedOut{what});
    BOOST_TEST(value("bellwether_timeouts_total{phase=\"" + std::string(name(what)) + "\"}") == 1);
  }
}

BOOST_AUTO_TEST_CASE(whoever_does_not_fit_is_rejected_under_a_name_of_its_own) {
  for (size_t i = 0; i < kValues<Unfit>; ++i) {
    const auto why = static_cast<Unfit>(i);
    observer.on_effect({}, Rejected{why, one.id});
    BOOST_TEST(
        value("bellwether_rejected_frames_total{reason=\"" + std::string(name(why)) + "\"}") == 1);
  }
}

BOOST_AUTO_TEST_CASE(stale_and_rejected_frames_are_counted) {
  observer.on_effect({}, Stale{FrameType::kCoordinator, one.id});
  observer.on_effect({}, Rejected{Unfit::kEpochTooFarAhead, one.id});
  BOOST_TEST(value(R"(bellwether_stale_messages_total{type="COORDINATOR"})") == 1);
  BOOST_TEST(value(R"(bellwether_rejected_frames_total{reason="epoch_too_far"})") == 1);
}

BOOST_AUTO_TEST_CASE(messages_are_counted_whether_or_not_an_election_runs) {
  observer.on_received(FrameType::kHeartbeat, 50);
  observer.on_sent(FrameType::kHeartbeatAck, 60, true);
  BOOST_TEST(value(R"(bellwether_messages_total{direction="received",type="HEARTBEAT"})") == 1);
  BOOST_TEST(value(R"(bellwether_message_bytes_total{direction="sent"})") == 60);
}

BOOST_AUTO_TEST_CASE(who_wants_to_hear_of_elections_is_told_of_each_that_ended) {
  std::vector<metrics::ElectionSummary> ended;
  CoreObserver telling(
      metrics, members, Record{}, variant,
      [&](const metrics::ElectionSummary& election) { ended.push_back(election); });
  const auto enter = [&](uint32_t state) { telling.on_effect({}, Progress{.state = state}); };
  enter(ELECTION_STATE_COLLECTING);
  telling.on_sent(FrameType::kElection, 100, true);
  BOOST_TEST(ended.empty());
  enter(ELECTION_STATE_IDLE);
  BOOST_TEST_REQUIRE(ended.size() == 1u);
  BOOST_TEST((ended.front().result == metrics::Result::kAbandoned));
  BOOST_TEST(ended.front().messages.election == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
