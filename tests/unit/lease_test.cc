// A leader's lease: the newest moment at which a majority is known to have been asked, plus the
// part of the lease for which it may believe in itself.
#include "core/lease.hh"

#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(lease)

namespace {

Instant at(int64_t ms) { return Instant(seconds(1000) + milliseconds(ms)); }

// Slot 0 of five voters leads, with a lease of one second.
Lease lease_of_five() { return {5, 3, 0, seconds(1)}; }

}  // namespace

BOOST_AUTO_TEST_CASE(without_any_answer_it_is_over) {
  Lease lease = lease_of_five();
  lease.sent(1, at(0));
  BOOST_TEST((lease.valid_until(at(1)) <= at(1)));
}

BOOST_AUTO_TEST_CASE(fewer_than_a_majority_are_not_enough) {
  Lease lease = lease_of_five();
  lease.sent(1, at(0));
  lease.acknowledged(1, 1);
  BOOST_TEST((lease.valid_until(at(1)) <= at(1)));
}

BOOST_AUTO_TEST_CASE(with_a_majority_it_lasts_four_fifths_from_the_sending) {
  Lease lease = lease_of_five();
  lease.sent(1, at(0));
  lease.acknowledged(1, 1);
  lease.acknowledged(4, 1);
  BOOST_TEST((lease.valid_until(at(50)) == at(800)));
}

// 0.8 of the lease on a clock that is slow by a ninth is no longer than the lease on one that is
// fast by a ninth.
BOOST_AUTO_TEST_CASE(the_flag_is_off_before_the_promise_is_over_for_clocks_off_by_a_ninth) {
  for (const Duration lease : {Duration(milliseconds(150)), Duration(seconds(1)), kMaxLease}) {
    const double flag_ns = static_cast<double>(validity_of(lease).count()) / (1.0 - 1.0 / 9);
    const double promise_ns = static_cast<double>(lease.count()) / (1.0 + 1.0 / 9);
    BOOST_TEST(flag_ns <= promise_ns * (1 + 1e-12));
  }
}

BOOST_AUTO_TEST_CASE(it_counts_from_the_sending_of_what_was_answered_not_from_the_newest) {
  Lease lease = lease_of_five();
  lease.sent(1, at(0));
  lease.sent(2, at(100));
  lease.acknowledged(1, 1);
  lease.acknowledged(2, 1);
  BOOST_TEST((lease.valid_until(at(150)) == at(800)));
}

BOOST_AUTO_TEST_CASE(the_slowest_of_the_fastest_majority_decides) {
  Lease lease = lease_of_five();
  for (uint64_t beat = 1; beat <= 4; ++beat) lease.sent(beat, at(static_cast<int64_t>(beat) * 100));
  lease.acknowledged(1, 4);
  lease.acknowledged(2, 2);
  lease.acknowledged(3, 1);
  BOOST_TEST((lease.valid_until(at(450)) == at(200 + 800)));
}

BOOST_AUTO_TEST_CASE(one_voter_that_answers_often_is_still_one) {
  Lease lease = lease_of_five();
  for (uint64_t beat = 1; beat <= 9; ++beat) {
    lease.sent(beat, at(static_cast<int64_t>(beat)));
    lease.acknowledged(1, beat);
  }
  BOOST_TEST((lease.valid_until(at(10)) <= at(10)));
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_late_or_twice_takes_nothing_back_and_adds_nothing) {
  Lease lease = lease_of_five();
  lease.sent(1, at(0));
  lease.sent(2, at(100));
  for (const size_t slot : {1u, 2u}) lease.acknowledged(slot, 2);
  for (const size_t slot : {1u, 2u}) lease.acknowledged(slot, 1);
  for (const size_t slot : {1u, 2u}) lease.acknowledged(slot, 2);
  BOOST_TEST((lease.valid_until(at(700)) == at(900)));
}

BOOST_AUTO_TEST_CASE(an_answer_to_what_was_never_sent_adds_nothing) {
  Lease lease = lease_of_five();
  lease.sent(1, at(0));
  for (const uint64_t unsent : {0u, 2u, 129u, 1'000'000u}) {
    lease.acknowledged(1, unsent);
    lease.acknowledged(2, unsent);
  }
  BOOST_TEST((lease.valid_until(at(1)) <= at(1)));
}

// The record of beats is bounded: what is too old to be found must not be taken for a new one.
BOOST_AUTO_TEST_CASE(an_answer_to_a_beat_of_long_ago_adds_nothing) {
  Lease lease = lease_of_five();
  for (uint64_t beat = 1; beat <= 1000; ++beat) lease.sent(beat, at(static_cast<int64_t>(beat)));
  for (const size_t slot : {1u, 2u}) lease.acknowledged(slot, 3);
  BOOST_TEST((lease.valid_until(at(1001)) <= at(1001)));
}

BOOST_AUTO_TEST_CASE(a_single_voter_supports_itself_at_every_moment) {
  const Lease lease(1, 1, 0, seconds(1));
  BOOST_TEST((lease.valid_until(at(0)) == at(800)));
  BOOST_TEST((lease.valid_until(at(5000)) == at(5800)));
}

BOOST_AUTO_TEST_CASE(its_own_vote_does_not_count_twice) {
  Lease lease(3, 2, 1, seconds(1));
  lease.sent(1, at(0));
  lease.acknowledged(1, 1);  // its own slot
  BOOST_TEST((lease.valid_until(at(1)) <= at(1)));
  lease.acknowledged(2, 1);
  BOOST_TEST((lease.valid_until(at(1)) == at(800)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
