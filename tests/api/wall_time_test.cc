// The time of day as text.
#include "base/wall_time.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>

namespace bellwether::tests {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(wall_time_text)

BOOST_AUTO_TEST_CASE(is_rfc_3339_with_milliseconds) {
  using std::chrono::sys_days;
  using std::chrono::year;
  const WallTime day = sys_days(year(2024) / 2 / 29);
  BOOST_TEST(rfc3339(day + 23h + 5min + 9s + 70ms) == "2024-02-29T23:05:09.070Z");
  BOOST_TEST(rfc3339(day + 999999us) == "2024-02-29T00:00:00.999Z");
  BOOST_TEST(rfc3339(day - 1ms) == "2024-02-28T23:59:59.999Z");
}

BOOST_AUTO_TEST_CASE(begins_in_1970) {
  BOOST_TEST(rfc3339(WallTime{}) == "1970-01-01T00:00:00.000Z");
  BOOST_TEST(rfc3339(WallTime{} - 1ms) == "1969-12-31T23:59:59.999Z");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
