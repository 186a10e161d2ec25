// The failure detector: how long silence is tolerated, how that follows the rhythm of the beats,
// and how a process doubts itself after a pause of its own.
#include "core/failure_detector.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Options kLimits{.heartbeat_interval = milliseconds(100),
                      .suspect_after_min = milliseconds(500),
                      .suspect_after_max = milliseconds(800)};

// Beats at these distances, from time 0 on; returns when the last one came.
Instant beat(Arrivals& arrivals, const std::vector<int>& gaps_ms) {
  Instant now{};
  arrivals.restart(now);
  arrivals.heard(now, true);
  for (const int gap : gaps_ms) {
    now += milliseconds(gap);
    arrivals.heard(now, true);
  }
  return now;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failure_detector)

BOOST_AUTO_TEST_CASE(without_a_beat_silence_counts_from_the_restart) {
  Arrivals arrivals;
  arrivals.restart(Instant(seconds(7)));
  const FailureDetector detector(kLimits);
  BOOST_TEST((detector.suspect_at(arrivals, Instant(seconds(7))) ==
              Instant(seconds(7) + milliseconds(500))));
}

BOOST_AUTO_TEST_CASE(regular_beats_are_given_the_least_patience) {
  Arrivals arrivals;
  const Instant now = beat(arrivals, std::vector<int>(100, 100));
  BOOST_TEST((FailureDetector(kLimits).tolerance(arrivals, now) == milliseconds(500)));
}

BOOST_AUTO_TEST_CASE(irregular_beats_are_given_more) {
  Arrivals arrivals;
  const Instant now = beat(arrivals, {100, 160, 100, 160, 100, 160, 100, 160});
  const Duration tolerance = FailureDetector(kLimits).tolerance(arrivals, now);
  BOOST_TEST((arrivals.expected_gap() > milliseconds(200)));
  BOOST_TEST((tolerance >= milliseconds(500)));
  const FailureDetector free(
      Options{.suspect_after_min = milliseconds(1), .suspect_after_max = seconds(9)});
  BOOST_TEST((free.tolerance(arrivals, now) == arrivals.expected_gap() + milliseconds(100)));
}

BOOST_AUTO_TEST_CASE(patience_has_a_limit) {
  Arrivals arrivals;
  const Instant now = beat(arrivals, {100, 900, 100, 900});
  BOOST_TEST((FailureDetector(kLimits).tolerance(arrivals, now) == milliseconds(800)));
}

BOOST_AUTO_TEST_CASE(the_expected_gap_is_the_mean_and_six_deviations) {
  Arrivals arrivals;
  beat(arrivals, {100});
  BOOST_TEST((arrivals.expected_gap() == milliseconds(100 + 6 * 50)));
  // Jacobson and Karels: the mean moves by an eighth of the error, the deviation by a quarter.
  beat(arrivals, {100, 180});
  BOOST_TEST(
      (arrivals.expected_gap() == milliseconds(110) + 6 * std::chrono::microseconds(57'500)));
}

BOOST_AUTO_TEST_CASE(a_rhythm_that_becomes_regular_again_is_learnt) {
  Arrivals arrivals;
  std::vector<int> gaps{700, 50, 700};
  gaps.insert(gaps.end(), 100, 100);
  const Instant now = beat(arrivals, gaps);
  BOOST_TEST((FailureDetector(kLimits).tolerance(arrivals, now) == milliseconds(500)));
}

BOOST_AUTO_TEST_CASE(other_frames_show_life_but_teach_no_rhythm) {
  Arrivals arrivals;
  const Instant now = beat(arrivals, {100, 100});
  const Duration expected = arrivals.expected_gap();
  arrivals.heard(now + milliseconds(3), false);
  BOOST_TEST((arrivals.last_heard() == now + milliseconds(3)));
  BOOST_TEST((arrivals.expected_gap() == expected));
}

BOOST_AUTO_TEST_CASE(a_restart_forgets_the_rhythm) {
  Arrivals arrivals;
  const Instant now = beat(arrivals, {100, 100});
  arrivals.restart(now + seconds(1));
  BOOST_TEST((arrivals.expected_gap() == Duration::zero()));
  BOOST_TEST((arrivals.last_heard() == now + seconds(1)));
}

// --- pauses of this process ---

BOOST_AUTO_TEST_CASE(being_later_than_an_interval_is_a_pause) {
  const FailureDetector detector(kLimits);
  BOOST_TEST(!detector.is_own_pause(milliseconds(100)));
  BOOST_TEST(detector.is_own_pause(milliseconds(101)));
}

BOOST_AUTO_TEST_CASE(the_time_of_a_pause_is_not_silence) {
  Arrivals arrivals;
  const Instant heard = beat(arrivals, {100, 100});
  const Instant now = heard + seconds(30);
  arrivals.forgive(seconds(30) - milliseconds(80), now);
  BOOST_TEST((arrivals.last_heard() == now - milliseconds(80)));
}

BOOST_AUTO_TEST_CASE(nobody_was_heard_in_the_future) {
  Arrivals arrivals;
  const Instant now = beat(arrivals, {100, 100});
  arrivals.forgive(seconds(30), now);
  BOOST_TEST((arrivals.last_heard() == now));
}

BOOST_AUTO_TEST_CASE(the_gap_across_a_pause_teaches_nothing) {
  Arrivals arrivals;
  const Instant heard = beat(arrivals, {100, 100});
  const Duration expected = arrivals.expected_gap();
  arrivals.forgive(seconds(30), heard + seconds(30));
  arrivals.heard(heard + seconds(30), true);
  BOOST_TEST((arrivals.expected_gap() == expected));
}

BOOST_AUTO_TEST_CASE(who_doubts_itself_is_twice_as_patient_and_ever_less_so) {
  Arrivals arrivals;
  FailureDetector detector(kLimits);
  const Instant now = beat(arrivals, std::vector<int>(100, 100));
  detector.doubt_self(now);
  BOOST_TEST((detector.tolerance(arrivals, now) == milliseconds(1000)));
  BOOST_TEST((detector.tolerance(arrivals, now + seconds(5)) == milliseconds(750)));
  BOOST_TEST((detector.tolerance(arrivals, now + seconds(10)) == milliseconds(500)));
  BOOST_TEST((detector.tolerance(arrivals, now + seconds(99)) == milliseconds(500)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
