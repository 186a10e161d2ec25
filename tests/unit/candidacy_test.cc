// A candidate counts: opinions, refusals, grants, and what the grants still wait for.
#include "core/candidacy.hh"

#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

Instant at(int second) { return Instant(seconds(second)); }

Candidacy candidacy() { return Candidacy({}); }

// A voter that has promised the leader `number` to support it in `epoch` until `second`.
Promises promised(uint32_t number, uint64_t epoch, int second) {
  Promises promises;
  promises.make({uuid(number), epoch, at(second)});
  return promises;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(candidacy_counts)

BOOST_AUTO_TEST_CASE(it_begins_with_nobodys_support) {
  const Candidacy made({true, true, {uuid(2)}});
  BOOST_TEST(made.proposal().is_planned);
  BOOST_TEST(made.proposal().is_appointed);
  BOOST_TEST((made.proposal().silent == std::vector<Uuid>{uuid(2)}));
  BOOST_TEST(made.refusals() + made.grants() == 0u);
}

BOOST_AUTO_TEST_CASE(a_refusal_counts_once_for_each_voter) {
  Candidacy made = candidacy();
  for (const size_t slot : {0u, 4u, 4u}) made.note_refusal(slot);
  BOOST_TEST(made.refusals() == 2u);
}

BOOST_AUTO_TEST_CASE(a_grant_with_nothing_to_wait_for_is_in_force_at_once) {
  Candidacy made = candidacy();
  made.note_grant(1, {}, at(10));
  BOOST_TEST(made.grants() == 1u);
  BOOST_TEST(made.is_in_force(1, at(10)));
  BOOST_TEST(made.grants_in_force(at(10)) == 1u);
}

BOOST_AUTO_TEST_CASE(a_grant_waits_for_what_its_voter_has_promised_to_others) {
  Candidacy made = candidacy();
  made.note_grant(1, promised(5, 1, 12), at(10));
  BOOST_TEST(made.grants() == 1u);
  BOOST_TEST(made.grants_in_force(at(11)) == 0u);
  BOOST_TEST(made.grants_in_force(at(12)) == 1u);
}

BOOST_AUTO_TEST_CASE(a_grant_waits_for_what_an_earlier_life_of_its_voter_may_have_promised) {
  Candidacy made = candidacy();
  made.note_grant(1, {}, at(12));
  BOOST_TEST(!made.is_in_force(1, at(11)));
  BOOST_TEST(made.is_in_force(1, at(12)));
}

BOOST_AUTO_TEST_CASE(a_release_frees_the_grants_of_all_voters_from_this_leader) {
  Candidacy made = candidacy();
  made.note_grant(1, promised(5, 1, 12), at(10));
  made.note_grant(2, promised(5, 1, 12), at(10));
  made.note_grant(3, promised(4, 1, 12), at(10));
  made.release(uuid(5), 1);
  BOOST_TEST(made.grants_in_force(at(11)) == 2u);
}

BOOST_AUTO_TEST_CASE(a_release_of_an_earlier_epoch_frees_nothing) {
  Candidacy made = candidacy();
  made.note_grant(1, promised(5, 3, 12), at(10));
  made.release(uuid(5), 2);
  BOOST_TEST(made.grants_in_force(at(11)) == 0u);
}

// No leader can release what a forgotten life of the voter has promised, to whomever it was.
BOOST_AUTO_TEST_CASE(a_release_does_not_end_the_wait_for_an_earlier_life) {
  Candidacy made = candidacy();
  made.note_grant(1, promised(5, 1, 12), at(12));
  made.release(uuid(5), 1);
  BOOST_TEST(made.grants_in_force(at(11)) == 0u);
}

BOOST_AUTO_TEST_CASE(the_newest_grant_of_a_voter_counts) {
  Candidacy made = candidacy();
  made.note_grant(1, promised(5, 1, 12), at(10));
  made.note_grant(1, {}, at(10));
  BOOST_TEST(made.grants() == 1u);
  BOOST_TEST(made.grants_in_force(at(10)) == 1u);
}

BOOST_AUTO_TEST_CASE(the_next_change_is_when_the_next_grant_comes_into_force) {
  Candidacy made = candidacy();
  made.note_grant(1, promised(5, 1, 14), at(10));
  made.note_grant(2, promised(5, 1, 12), at(13));
  BOOST_TEST((made.next_change(at(10)) == at(13)));
  BOOST_TEST((made.next_change(at(13)) == at(14)));
}

BOOST_AUTO_TEST_CASE(with_nothing_left_to_wait_for_no_change_is_to_come) {
  Candidacy made = candidacy();
  BOOST_TEST((made.next_change(at(10)) == kNever));
  made.note_grant(1, {}, at(10));
  BOOST_TEST((made.next_change(at(10)) == kNever));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
