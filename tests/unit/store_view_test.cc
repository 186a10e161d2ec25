// What was seen of a group's record, and who may write over it.
#include "core/store_view.hh"

#include <boost/test/unit_test.hpp>

#include "core/ended_lives.hh"
#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(store_view)

namespace {

using Holder = StoreRecord::Holder;

constexpr uint64_t kClock = 1'000'000;
constexpr uint64_t kHome = 70;
constexpr uint64_t kElsewhere = 71;

Instant at(int64_t ms) { return Instant(seconds(1000) + milliseconds(ms)); }

StoreRecord held_by(uint32_t number, uint64_t epoch = 5, Duration lease = seconds(2)) {
  return {.holder = Holder::kMember,
          .id = uuid(number),
          .name = {},
          .home = kHome,
          .epoch = epoch,
          .lease = lease};
}
StoreRecord held_by_no_member(Holder holder, uint64_t epoch = 0) {
  return {.holder = holder, .id = {}, .name = {}, .epoch = epoch, .lease = seconds(2)};
}

// Of member 1, with a lease of two seconds; version "a" is seen at 0.
struct Seen {
  explicit Seen(const StoreRecord& record, bool is_flag_on = false) {
    view.see({"a", record}, at(0), kClock, is_flag_on);
  }
  std::string ground(int64_t ms = 0, uint64_t released = 0) const {
    return name(view.ground(at(ms), self, {.released = released, .has_ended = has_ended}));
  }
  StoreView view{seconds(2)};
  bool has_ended = false;
  MemberEntry self{.id = uuid(1), .name = {}, .address = {}, .home = kHome, .variant = {}};
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_never_seen_is_no_ground) {
  const StoreView view(seconds(2));
  BOOST_TEST(name(view.ground(at(0), {}, {})) == "none");
}

BOOST_AUTO_TEST_CASE(that_there_is_no_record_is_no_ground_ever) {
  StoreView view(seconds(2));
  view.see({}, at(0), kClock, true);
  BOOST_TEST(view.is_absent());
  BOOST_TEST(name(view.ground(at(60000), {}, {.released = 9})) == "none");
}

BOOST_AUTO_TEST_CASE(a_release_in_the_record_is_a_ground_at_once) {
  BOOST_TEST(Seen(held_by_no_member(Holder::kReleased, 5)).ground() == "released");
}

BOOST_AUTO_TEST_CASE(the_own_name_is_a_ground_at_once) {
  BOOST_TEST(Seen(held_by(1)).ground() == "own");
}

BOOST_AUTO_TEST_CASE(the_own_name_with_another_home_is_anothers) {
  Seen seen(held_by(1));
  BOOST_TEST(!seen.view.is_held_by_twin_of(seen.self));
  seen.self.home = kElsewhere;
  BOOST_TEST(seen.ground(1999) == "none");
  BOOST_TEST(seen.ground(2000) == "expired");
  BOOST_TEST(seen.view.is_held_by_twin_of(seen.self));
}

BOOST_AUTO_TEST_CASE(a_release_that_was_told_is_one_up_to_its_epoch) {
  const Seen seen(held_by(2, 5));
  BOOST_TEST(seen.ground(0, 4) == "none");
  BOOST_TEST(seen.ground(0, 5) == "said_released");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_life_that_it_names_is_a_ground_at_once) {
  Seen seen(held_by(2));
  BOOST_TEST(seen.ground() == "none");
  seen.has_ended = true;
  BOOST_TEST(seen.ground() == "ended");
}

BOOST_AUTO_TEST_CASE(lives_that_have_ended_are_known_by_their_number) {
  EndedLives ended;
  BOOST_TEST(!ended.has(0));
  for (uint64_t boot = 1; boot <= 65; ++boot) ended.add(boot);
  BOOST_TEST(ended.has(65));
  BOOST_TEST(ended.has(2));
  BOOST_TEST(!ended.has(1));  // of long ago
  ended.add(0);
  BOOST_TEST(!ended.has(0));
}

BOOST_AUTO_TEST_CASE(an_unknown_holder_is_no_release) {
  BOOST_TEST(Seen(held_by_no_member(Holder::kUnknown, 5)).ground(1999) == "none");
}

BOOST_AUTO_TEST_CASE(what_was_made_anew_is_taken_by_whoever_led_when_it_was_seen) {
  BOOST_TEST(Seen(held_by_no_member(Holder::kUnknown), true).ground() == "was_held");
  BOOST_TEST(Seen(held_by(2), true).ground() == "none");
  BOOST_TEST(Seen(held_by_no_member(Holder::kStranger), true).ground() == "none");
}

BOOST_AUTO_TEST_CASE(everybody_else_is_waited_for_one_length_from_the_sight) {
  for (const StoreRecord& record :
       {held_by(2), held_by_no_member(Holder::kUnknown), held_by_no_member(Holder::kStranger)}) {
    const Seen seen(record);
    BOOST_TEST(seen.ground(1999) == "none");
    BOOST_TEST(seen.ground(2000) == "expired");
  }
}

BOOST_AUTO_TEST_CASE(the_same_version_again_does_not_begin_the_wait_anew) {
  Seen seen(held_by(2));
  BOOST_TEST(!seen.view.see({"a", held_by(2)}, at(1500), kClock, false));
  BOOST_TEST(seen.ground(2000) == "expired");
  BOOST_TEST((seen.view.looked_at() == at(1500)));
}

BOOST_AUTO_TEST_CASE(another_version_does) {
  Seen seen(held_by(2));
  BOOST_TEST(seen.view.see({"b", held_by(2)}, at(1500), kClock, false));
  BOOST_TEST(seen.ground(3499) == "none");
  BOOST_TEST(seen.ground(3500) == "expired");
}

BOOST_AUTO_TEST_CASE(a_longer_length_in_the_record_counts) {
  const Seen seen(held_by(2, 5, seconds(7)));
  BOOST_TEST(seen.ground(6999) == "none");
  BOOST_TEST(seen.ground(7000) == "expired");
}

BOOST_AUTO_TEST_CASE(a_length_that_no_member_can_have_written_is_waited_for_a_minute_at_most) {
  Seen seen(held_by(2, 5, std::chrono::hours(24)));
  BOOST_TEST(seen.ground(59999) == "none");
  BOOST_TEST(seen.ground(60000) == "expired");
}

BOOST_AUTO_TEST_CASE(the_longest_lease_that_members_have_told_counts) {
  Seen seen(held_by_no_member(Holder::kUnknown));
  seen.view.set_members_lease(seconds(5));
  BOOST_TEST(seen.ground(4999) == "none");
  BOOST_TEST(seen.ground(5000) == "expired");
  seen.view.set_members_lease(std::chrono::hours(1));
  BOOST_TEST(seen.ground(59999) == "none");
  BOOST_TEST(seen.ground(60000) == "expired");
}

BOOST_AUTO_TEST_CASE(a_length_that_was_shortened_by_hand_cuts_nobody_short) {
  Seen seen(held_by(2, 5, seconds(7)));
  seen.view.see({"b", held_by(2, 5, milliseconds(1))}, at(0), kClock, false);
  BOOST_TEST(seen.ground(6999) == "none");
  seen.view.see({"c", held_by_no_member(Holder::kUnknown)}, at(0), kClock, false);
  BOOST_TEST(seen.ground(6999) == "none");
}

BOOST_AUTO_TEST_CASE(a_later_reign_has_its_own_length_and_at_least_the_own_one) {
  Seen seen(held_by(2, 5, seconds(7)));
  seen.view.see({"b", held_by(3, 6, milliseconds(1))}, at(0), kClock, false);
  BOOST_TEST(seen.ground(1999) == "none");
  BOOST_TEST(seen.ground(2000) == "expired");
}

BOOST_AUTO_TEST_CASE(a_claim_takes_the_next_epoch) {
  BOOST_TEST(Seen(held_by(2, 5)).view.least_epoch(at(0)) == 6);
  BOOST_TEST(Seen(held_by_no_member(Holder::kReleased, 5)).view.least_epoch(at(0)) == 6);
}

BOOST_AUTO_TEST_CASE(where_the_record_tells_no_epoch_the_clock_of_that_moment_does) {
  const Seen seen(held_by_no_member(Holder::kUnknown));
  BOOST_TEST(seen.view.least_epoch(at(2500)) == kClock + 2500);
  BOOST_TEST(Seen(held_by_no_member(Holder::kStranger, 5)).view.least_epoch(at(0)) == kClock);
  BOOST_TEST(Seen(held_by(2, 0)).view.least_epoch(at(0)) == kClock);
}

BOOST_AUTO_TEST_CASE(an_epoch_that_is_there_is_never_gone_below) {
  const Seen seen(held_by_no_member(Holder::kUnknown, 2 * kClock));
  BOOST_TEST(seen.view.least_epoch(at(0)) == 2 * kClock + 1);
}

BOOST_AUTO_TEST_CASE(what_is_forgotten_is_no_ground) {
  Seen seen(held_by(1));
  seen.view.forget();
  BOOST_TEST(seen.ground(5000) == "none");
  BOOST_TEST(!seen.view.holds(uuid(1), kHome));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
