// Small parts of the node that only know time and chance: its timers, the backoff between two
// tries, and the damping of take-overs.
#include "core/timers.hh"

#include <boost/test/unit_test.hpp>
#include <set>

#include "core/backoff.hh"
#include "core/preemption.hh"
#include "node_harness.hh"

namespace bellwether::tests {
namespace {

Instant at(int second) { return Instant(seconds(second)); }

Rank rank(uint32_t priority, uint32_t number) { return {.priority = priority, .id = uuid(number)}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(timers)

BOOST_AUTO_TEST_CASE(no_timer_is_armed_at_first) {
  const Timers timers;
  BOOST_TEST((timers.next() == kNever));
  BOOST_TEST(!timers.is_armed(Timer::kHeartbeat));
}

BOOST_AUTO_TEST_CASE(the_next_one_is_the_earliest_of_all) {
  Timers timers;
  timers.arm(Timer::kJoin, at(5));
  timers.arm(Timer::kHold, at(3));
  timers.arm(Timer::kElect, at(4));
  BOOST_TEST((timers.next() == at(3)));
  timers.disarm(Timer::kHold);
  BOOST_TEST((timers.next() == at(4)));
}

BOOST_AUTO_TEST_CASE(a_timer_that_is_armed_again_has_the_new_deadline) {
  Timers timers;
  timers.arm(Timer::kJoin, at(5));
  timers.arm(Timer::kJoin, at(7));
  BOOST_TEST((timers.deadline(Timer::kJoin) == at(7)));
}

BOOST_AUTO_TEST_CASE(a_timer_is_due_once_and_not_before_its_deadline) {
  Timers timers;
  timers.arm(Timer::kJoin, at(5));
  BOOST_TEST(!timers.take(Timer::kJoin, at(4)));
  BOOST_TEST(timers.take(Timer::kJoin, at(5)));
  BOOST_TEST(!timers.take(Timer::kJoin, at(6)));
}

BOOST_AUTO_TEST_CASE(a_timer_that_never_comes_is_not_armed) {
  Timers timers;
  timers.arm(Timer::kPlugin, kNever);
  BOOST_TEST(!timers.is_armed(Timer::kPlugin));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(backoff)

BOOST_AUTO_TEST_CASE(the_wait_doubles_up_to_a_limit_give_or_take_a_half) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ElectionBackoff backoff(seed);
    for (const int base_ms : {200, 400, 800, 1600, 2000, 2000, 2000, 2000}) {
      const Duration wait = backoff.next(at(1000));
      BOOST_TEST((wait >= milliseconds(base_ms) / 2));
      BOOST_TEST((wait < milliseconds(base_ms) * 3 / 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(it_never_overflows_however_often_it_is_asked) {
  ElectionBackoff backoff(1);
  for (int i = 0; i < 1000; ++i) BOOST_TEST((backoff.next(at(1000)) <= seconds(3)));
}

BOOST_AUTO_TEST_CASE(after_a_calm_while_it_begins_anew) {
  ElectionBackoff backoff(1);
  for (int i = 0; i < 10; ++i) backoff.next(at(1000));
  BOOST_TEST((backoff.next(at(1010)) > milliseconds(900)));
  BOOST_TEST((backoff.next(at(1021)) < milliseconds(300)));
}

BOOST_AUTO_TEST_CASE(two_seeds_wait_differently_and_one_seed_alike) {
  ElectionBackoff one(1);
  ElectionBackoff same(1);
  ElectionBackoff other(2);
  int equal = 0;
  for (int i = 0; i < 20; ++i) {
    const Duration wait = one.next(at(1000));
    BOOST_TEST((wait == same.next(at(1000))));
    if (wait == other.next(at(1000))) ++equal;
  }
  BOOST_TEST(equal < 3);
}

BOOST_AUTO_TEST_CASE(seeds_that_differ_in_their_upper_half_wait_differently) {
  std::set<Duration> waits;
  for (uint64_t life = 1; life <= 20; ++life)
    waits.insert(ElectionBackoff(life << 32).next(at(1000)));
  BOOST_TEST(waits.size() > 10u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(preemption)

BOOST_AUTO_TEST_CASE(always_means_every_higher_rank) {
  const Preemption preemption(Preempt::kAlways, {});
  BOOST_TEST(preemption.allows(rank(100, 2), rank(100, 1)));
  BOOST_TEST(preemption.allows(rank(101, 1), rank(100, 2)));
  BOOST_TEST(!preemption.allows(rank(100, 1), rank(100, 2)));
  BOOST_TEST(!preemption.allows(rank(100, 1), rank(100, 1)));
}

BOOST_AUTO_TEST_CASE(by_priority_means_only_a_strictly_higher_priority) {
  const Preemption preemption(Preempt::kPriority, {});
  BOOST_TEST(preemption.allows(rank(101, 1), rank(100, 2)));
  BOOST_TEST(!preemption.allows(rank(100, 2), rank(100, 1)));
}

BOOST_AUTO_TEST_CASE(off_means_nobody) {
  BOOST_TEST(!Preemption(Preempt::kOff, {}).allows(rank(200, 2), rank(100, 1)));
}

BOOST_AUTO_TEST_CASE(the_first_loss_of_leadership_costs_nothing) {
  Preemption preemption(Preempt::kAlways, milliseconds(50));
  preemption.on_leadership_lost(at(1000));
  BOOST_TEST((preemption.delay(at(1000)) == milliseconds(50)));
}

BOOST_AUTO_TEST_CASE(each_loss_within_a_minute_of_the_last_doubles_the_delay) {
  Preemption preemption(Preempt::kAlways, {});
  preemption.on_leadership_lost(at(1000));
  for (int loss = 1; loss <= 4; ++loss) {
    preemption.on_leadership_lost(at(1000 + 50 * loss));
    BOOST_TEST((preemption.delay(at(1000 + 50 * loss)) == seconds(1 << (loss - 1))));
  }
}

BOOST_AUTO_TEST_CASE(a_configured_delay_is_what_is_doubled) {
  Preemption preemption(Preempt::kAlways, seconds(5));
  preemption.on_leadership_lost(at(1000));
  for (int loss = 1; loss <= 4; ++loss) {
    preemption.on_leadership_lost(at(1000 + 50 * loss));
    BOOST_TEST((preemption.delay(at(1000 + 50 * loss)) == seconds(5 << loss)));
  }
}

BOOST_AUTO_TEST_CASE(the_delay_is_at_most_five_minutes) {
  Preemption preemption(Preempt::kAlways, {});
  for (int loss = 0; loss < 30; ++loss) preemption.on_leadership_lost(at(1000 + loss));
  BOOST_TEST((preemption.delay(at(1030)) == seconds(300)));
}

BOOST_AUTO_TEST_CASE(a_minute_without_a_loss_beyond_what_was_waited_forgives_all) {
  Preemption preemption(Preempt::kAlways, {});
  for (int loss = 0; loss < 5; ++loss) preemption.on_leadership_lost(at(1000 + loss));
  preemption.on_leadership_lost(at(1072));
  BOOST_TEST((preemption.delay(at(1072)) == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(what_was_lost_days_ago_delays_nothing) {
  Preemption preemption(Preempt::kAlways, {});
  for (int loss = 0; loss < 3; ++loss) preemption.on_leadership_lost(at(1000 + loss));
  BOOST_TEST((preemption.delay(at(1063)) == seconds(2)));
  BOOST_TEST((preemption.delay(at(1064)) == Duration::zero()));
}

// Whoever waits for five minutes loses leadership no sooner.
BOOST_AUTO_TEST_CASE(what_is_waited_counts_as_no_calm) {
  Preemption preemption(Preempt::kAlways, {});
  Instant now = at(1000);
  for (int loss = 0; loss < 12; ++loss) {
    preemption.on_leadership_lost(now);
    now += preemption.delay(now) + seconds(1);
  }
  BOOST_TEST((preemption.delay(now) == seconds(300)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
