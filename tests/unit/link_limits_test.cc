// What follows from the timers for connections; and when the ends of links have one cause.
#include "core/link_limits.hh"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "core/shared_end.hh"

namespace bellwether::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kEnd{seconds(100)};
constexpr Duration kMoment = milliseconds(100);

bool ended_with(const std::vector<LinkHistory>& others) {
  return has_ended_with_all(kEnd, others, kMoment);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(link_limits_and_ends)

BOOST_AUTO_TEST_CASE(the_default_timers_have_the_default_limits) {
  const LinkLimits limits = link_limits(Options{});
  BOOST_TEST((limits.connect == milliseconds(300)));
  BOOST_TEST((limits.handshake == seconds(2)));
  BOOST_TEST((limits.unacknowledged == milliseconds(1500)));
  BOOST_TEST((limits.moment == milliseconds(100)));
}

BOOST_AUTO_TEST_CASE(no_connection_is_given_up_sooner_than_the_timers_allow) {
  Options options;
  options.answer_timeout = seconds(3);
  options.suspect_after_max = seconds(8);
  options.heartbeat_interval = milliseconds(500);
  const LinkLimits limits = link_limits(options);
  BOOST_TEST((limits.connect == seconds(3)));
  BOOST_TEST((limits.handshake == seconds(6)));
  BOOST_TEST((limits.unacknowledged == seconds(8)));
  BOOST_TEST((limits.moment == milliseconds(500)));
}

BOOST_AUTO_TEST_CASE(short_timers_do_not_shorten_the_limits) {
  Options options;
  options.answer_timeout = milliseconds(25);
  options.suspect_after_max = milliseconds(120);
  options.heartbeat_interval = milliseconds(10);
  BOOST_TEST((link_limits(options).connect == milliseconds(300)));
  BOOST_TEST((link_limits(options).unacknowledged == milliseconds(1500)));
}

BOOST_AUTO_TEST_CASE(the_end_of_the_only_link_is_nobody_elses) {
  BOOST_TEST(!ended_with({}));
  BOOST_TEST(!ended_with({LinkHistory{}}));
  BOOST_TEST(!ended_with({{.ended_at = kEnd - kMoment - Duration(1)}}));
}

BOOST_AUTO_TEST_CASE(all_links_that_end_within_a_moment_have_ended_together) {
  for (const Duration before : {Duration::zero(), kMoment}) {
    BOOST_TEST(ended_with({{.ended_at = kEnd - before}}));
    BOOST_TEST(ended_with({{.ended_at = kEnd + before}, {.ended_at = kEnd - seconds(9)}}));
  }
}

BOOST_AUTO_TEST_CASE(one_that_was_up_all_the_time_is_a_witness) {
  BOOST_TEST(!ended_with({{.is_up = true}, {.ended_at = kEnd}}));
  BOOST_TEST(!ended_with({{.is_up = true, .ended_at = kEnd - seconds(9)}, {.ended_at = kEnd}}));
}

BOOST_AUTO_TEST_CASE(one_that_is_up_again_is_none) {
  BOOST_TEST(ended_with({{.is_up = true, .ended_at = kEnd}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
