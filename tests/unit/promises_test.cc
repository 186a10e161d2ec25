// What a voter has promised: renewed, never shortened, void when released, over when it is over.
#include "core/promises.hh"

#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(promises)

namespace {

Instant at(int second) { return Instant(seconds(second)); }

// To leader `number`, in `epoch`, until `second`.
Promise to(uint32_t number, uint64_t epoch, int second) {
  return {uuid(number), epoch, at(second)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_has_promised_nothing_is_free) {
  const Promises promises;
  BOOST_TEST(promises.is_empty_at(at(0)));
  BOOST_TEST(promises.all().empty());
}

BOOST_AUTO_TEST_CASE(a_promise_lasts_until_its_moment_and_not_beyond) {
  Promises promises;
  promises.make(to(5, 1, 10));
  BOOST_TEST(!promises.is_empty_at(at(10) - Duration(1)));
  BOOST_TEST(promises.is_empty_at(at(10)));
}

BOOST_AUTO_TEST_CASE(a_renewal_makes_it_longer_and_is_no_second_one) {
  Promises promises;
  promises.make(to(5, 1, 10));
  promises.make(to(5, 1, 12));
  BOOST_TEST(promises.all().size() == 1u);
  BOOST_TEST((promises.empty_at() == at(12)));
}

// A heartbeat with a shorter lease does not take back what an earlier one was promised.
BOOST_AUTO_TEST_CASE(nothing_makes_a_promise_shorter) {
  Promises promises;
  promises.make(to(5, 1, 10));
  promises.make(to(5, 1, 8));
  BOOST_TEST((promises.empty_at() == at(10)));
  promises.make(to(5, 2, 9));
  BOOST_TEST((promises.empty_at() == at(10)));
}

BOOST_AUTO_TEST_CASE(promises_to_several_leaders_stand_beside_each_other) {
  Promises promises;
  promises.make(to(5, 1, 10));
  promises.make(to(4, 2, 12));
  BOOST_TEST(promises.all().size() == 2u);
  BOOST_TEST((promises.empty_at() == at(12)));
}

BOOST_AUTO_TEST_CASE(a_release_frees_from_this_leader_only) {
  Promises promises;
  promises.make(to(5, 1, 10));
  promises.make(to(4, 1, 12));
  BOOST_TEST(promises.release(uuid(4), 1));
  BOOST_TEST((promises.empty_at() == at(10)));
  BOOST_TEST(promises.all().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_release_frees_from_epochs_up_to_its_own_only) {
  Promises promises;
  promises.make(to(5, 3, 10));
  BOOST_TEST(!promises.release(uuid(5), 2));
  BOOST_TEST(!promises.is_empty_at(at(9)));
  BOOST_TEST(promises.release(uuid(5), 3));
  BOOST_TEST(promises.is_empty_at(at(0)));
}

BOOST_AUTO_TEST_CASE(a_later_epoch_of_the_same_leader_is_not_freed_by_the_end_of_the_earlier) {
  Promises promises;
  promises.make(to(5, 1, 10));
  promises.make(to(5, 4, 12));
  BOOST_TEST(!promises.release(uuid(5), 3));
  BOOST_TEST((promises.empty_at() == at(12)));
}

// A beat that was overtaken must not make the promise look as if it were to the earlier reign,
// which is released already.
BOOST_AUTO_TEST_CASE(a_late_beat_of_an_earlier_epoch_does_not_lower_the_epoch_of_the_promise) {
  Promises promises;
  promises.make(to(5, 4, 12));
  promises.make(to(5, 1, 11));
  BOOST_TEST(!promises.release(uuid(5), 1));
  BOOST_TEST(!promises.is_empty_at(at(11)));
}

BOOST_AUTO_TEST_CASE(a_release_of_nothing_promised_is_no_news) {
  Promises promises;
  promises.make(to(5, 1, 10));
  BOOST_TEST(!promises.release(uuid(4), 9));
  BOOST_TEST(promises.release(uuid(5), 1));
  BOOST_TEST(!promises.release(uuid(5), 1));
}

BOOST_AUTO_TEST_CASE(what_is_over_is_forgotten_and_nothing_else) {
  Promises promises;
  promises.make(to(5, 1, 10));
  promises.make(to(4, 2, 12));
  promises.expire(at(10));
  BOOST_REQUIRE(promises.all().size() == 1u);
  BOOST_TEST((promises.all()[0] == to(4, 2, 12)));
}

BOOST_AUTO_TEST_CASE(one_too_many_is_refused_and_those_there_can_still_be_renewed) {
  Promises promises;
  for (uint32_t number = 1; number <= Promises::kMax; ++number) {
    BOOST_TEST(promises.make(to(number, number, 10)));
  }
  BOOST_TEST(!promises.make(to(Promises::kMax + 1, 99, 10)));
  BOOST_TEST(promises.all().size() == size_t{Promises::kMax});
  BOOST_TEST(promises.make(to(1, 1, 12)));
  promises.expire(at(11));
  BOOST_TEST(promises.make(to(Promises::kMax + 1, 99, 10)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
