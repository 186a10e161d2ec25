// What the feed makes of what the node publishes.
#include "api/leadership.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;
using api::Leadership;
using api::LeadershipFeed;

struct Recorder : api::LeadershipListener {
  void on_change(const Leadership& leadership) override { heard.push_back(leadership.index); }
  std::vector<uint64_t> heard;
};

struct LeadershipFixture {
  LeadershipFixture() { members.put(member_entry(5), {}); }

  void lead(uint64_t epoch, Instant valid_until, std::optional<Why> why = Why::kClaimed) {
    publish({.is_leader = true,
             .epoch = epoch,
             .leader = uuid(3),
             .valid_until = valid_until,
             .why = why});
  }
  void follow(uint64_t epoch) {
    publish({.epoch = epoch, .leader = uuid(5), .why = Why::kAnnounced});
  }
  void lose() { publish({.why = Why::kLeaderLost}); }
  void publish(const Publish& publish) { feed.on_publish(publish, members, wall_time(++time)); }

  Members members{member_entry(3)};
  LeadershipFeed feed{wall_time(0)};
  int64_t time = 0;
};

Instant at(Duration since_start) { return Instant{} + since_start; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(leadership_feed, LeadershipFixture)

BOOST_AUTO_TEST_CASE(begins_without_a_leader_and_with_index_1) {
  BOOST_TEST(!feed.current().leader.has_value());
  BOOST_TEST(feed.current().index == 1u);
  BOOST_TEST(feed.current().epoch == 0u);
  BOOST_TEST(feed.current().reason == "started");
  BOOST_TEST((feed.current().since == wall_time(0)));
}

BOOST_AUTO_TEST_CASE(publishing_that_there_still_is_no_leader_changes_nothing) {
  publish({.why = Why::kStarted});
  BOOST_TEST(feed.current().index == 1u);
  BOOST_TEST((feed.current().since == wall_time(0)));
}

BOOST_AUTO_TEST_CASE(a_leader_is_named_with_its_address_reason_and_time) {
  follow(7);
  const Leadership& now = feed.current();
  BOOST_TEST_REQUIRE(now.leader.has_value());
  BOOST_TEST((now.leader->id == uuid(5)));
  BOOST_TEST(now.leader->name == "node-5");
  BOOST_TEST(now.leader->address == "10.0.0.5:7946");
  BOOST_TEST(!now.is_self);
  BOOST_TEST(now.epoch == 7u);
  BOOST_TEST(now.index == 2u);
  BOOST_TEST(now.reason == "a leader was announced");
  BOOST_TEST((now.since == wall_time(1)));
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_no_member_is_named_by_its_id) {
  publish({.epoch = 1, .leader = uuid(4), .why = Why::kAnnounced});
  BOOST_TEST(feed.current().leader->name == "00000000-0000-0000-0000-000000000004");
}

BOOST_AUTO_TEST_CASE(a_renewal_moves_the_validity_and_nothing_else) {
  lead(1, at(1s));
  lead(1, at(2s), std::nullopt);
  BOOST_TEST(feed.current().index == 2u);
  BOOST_TEST((feed.current().since == wall_time(1)));
  BOOST_TEST(feed.current().reason == "claimed");
  BOOST_TEST((feed.valid_for(at(1500ms)) == 500ms));
}

BOOST_AUTO_TEST_CASE(
    a_leader_that_lets_its_application_finish_leads_since_then_for_the_same_reason) {
  lead(1, at(1s));
  publish({.is_leader = true, .epoch = 1, .leader = uuid(3), .is_draining = true});
  BOOST_TEST(feed.current().index == 3u);
  BOOST_TEST(feed.current().is_draining);
  BOOST_TEST((feed.current().since == wall_time(1)));
  BOOST_TEST((feed.current().changed == wall_time(2)));
  BOOST_TEST(feed.current().reason == "claimed");
}

BOOST_AUTO_TEST_CASE(leadership_that_was_not_renewed_is_over_at_its_very_end) {
  lead(1, at(1s));
  BOOST_TEST(feed.is_leading(at(1s) - 1ns));
  BOOST_TEST(!feed.is_leading(at(1s)));
  BOOST_TEST((feed.valid_for(at(3s)) == 0s));
}

BOOST_AUTO_TEST_CASE(a_follower_never_leads) {
  lead(1, at(10s));
  follow(2);
  BOOST_TEST(!feed.is_leading(at(1s)));
}

BOOST_AUTO_TEST_CASE(every_change_grows_the_index_by_one) {
  follow(1);
  lose();
  follow(1);
  follow(2);
  lead(3, at(1s));
  lead(4, at(1s));
  BOOST_TEST(feed.current().index == 7u);
}

BOOST_AUTO_TEST_CASE(without_a_leader_the_epoch_stays_that_of_the_last_one) {
  follow(7);
  lose();
  BOOST_TEST(!feed.current().leader.has_value());
  BOOST_TEST(feed.current().epoch == 7u);
}

BOOST_AUTO_TEST_CASE(listeners_hear_of_changes_only_until_they_unsubscribe) {
  Recorder recorder;
  feed.subscribe(recorder);
  lead(1, at(1s));
  lead(1, at(2s), std::nullopt);
  follow(2);
  feed.unsubscribe(recorder);
  lose();
  BOOST_TEST(recorder.heard == (std::vector<uint64_t>{2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_missed_comes_oldest_first) {
  follow(1);  // 1.2
  lose();     // 1.3
  follow(2);  // 2.4
  const auto missed = feed.changes_after(1, 2);
  BOOST_TEST_REQUIRE(missed.size() == 2u);
  BOOST_TEST(missed[0].index == 3u);
  BOOST_TEST(missed[1].index == 4u);
}

BOOST_AUTO_TEST_CASE(who_has_seen_the_newest_has_missed_nothing) {
  follow(1);
  BOOST_TEST(feed.changes_after(1, 2).empty());
}

BOOST_AUTO_TEST_CASE(an_index_with_another_epoch_is_of_another_process) {
  follow(1);
  lose();
  BOOST_TEST(feed.changes_after(8, 2).empty());
}

BOOST_AUTO_TEST_CASE(only_the_last_256_changes_are_kept) {
  for (uint64_t epoch = 1; epoch <= LeadershipFeed::kMaxKept; ++epoch) follow(epoch);
  // 257 states so far; the first is forgotten.
  BOOST_TEST(feed.changes_after(0, 1).empty());
  BOOST_TEST(feed.changes_after(1, 2).size() == LeadershipFeed::kMaxKept - 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
