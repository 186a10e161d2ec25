// How much of the time handshakes may take, and for how long there are none after that.
#include "io/peers/handshake_budget.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;

constexpr Duration kMostWork = milliseconds(10);
constexpr Duration kNoPause = Duration::zero();

Instant time_after(milliseconds time) { return Instant(std::chrono::hours(1) + time); }

}  // namespace

BOOST_AUTO_TEST_SUITE(handshake_budget)

BOOST_AUTO_TEST_CASE(whoever_has_used_it_up_pauses_for_as_long_as_it_has_taken) {
  HandshakeBudget budget;
  BOOST_TEST((budget.spend(time_after(milliseconds(6)), milliseconds(6), kMostWork) == kNoPause));
  BOOST_TEST(
      (budget.spend(time_after(milliseconds(12)), milliseconds(6), kMostWork) == milliseconds(12)));
  // What has paused begins anew.
  BOOST_TEST((budget.spend(time_after(milliseconds(15)), milliseconds(9), kMostWork) == kNoPause));
}

BOOST_AUTO_TEST_CASE(one_part_may_use_it_up) {
  HandshakeBudget budget;
  BOOST_TEST((budget.spend(time_after(milliseconds(30)), milliseconds(30), kMostWork) ==
              milliseconds(30)));
}

BOOST_AUTO_TEST_CASE(half_of_the_time_is_free) {
  HandshakeBudget budget;
  for (int round = 0; round < 1000; ++round) {
    const Instant now = time_after(milliseconds(7 * round));
    BOOST_TEST((budget.spend(now, milliseconds(3), kMostWork) == kNoPause));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
