// Who votes: slots by name, quorums that always share a voter, and a hash that is the same for the
// same voters.
#include "core/electorate.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::tests {
namespace {

Electorate electorate_of(size_t voters) {
  std::vector<std::string> names;
  for (size_t i = 0; i < voters; ++i) names.push_back("voter-" + std::to_string(i));
  return Electorate(names);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(electorate)

BOOST_AUTO_TEST_CASE(two_quorums_always_share_a_voter_and_none_is_larger_than_it_must_be) {
  for (size_t voters = 1; voters <= kMaxVoters; ++voters) {
    const size_t quorum = electorate_of(voters).quorum();
    BOOST_TEST(2 * quorum > voters);
    BOOST_TEST(2 * (quorum - 1) <= voters);
  }
}

BOOST_AUTO_TEST_CASE(of_three_voters_one_may_fail_and_of_five_two) {
  BOOST_TEST(electorate_of(1).quorum() == 1u);
  BOOST_TEST(electorate_of(3).quorum() == 2u);
  BOOST_TEST(electorate_of(5).quorum() == 3u);
}

BOOST_AUTO_TEST_CASE(each_voter_has_a_slot_of_its_own) {
  const Electorate electorate = electorate_of(kMaxVoters);
  Votes taken;
  for (size_t i = 0; i < kMaxVoters; ++i) {
    const auto slot = electorate.slot_of("voter-" + std::to_string(i));
    BOOST_REQUIRE(slot.has_value());
    BOOST_TEST(*slot < electorate.size());
    taken.add(*slot);
  }
  BOOST_TEST(taken.count() == kMaxVoters);
}

BOOST_AUTO_TEST_CASE(who_is_not_named_has_no_slot) {
  const Electorate electorate({"b", "d"});
  for (const char* name : {"a", "c", "e", "", "B", "bb", "d\n"}) {
    BOOST_TEST(!electorate.slot_of(name).has_value());
  }
}

BOOST_AUTO_TEST_CASE(the_order_in_the_configuration_does_not_matter) {
  const Electorate one({"a", "b", "c"});
  const Electorate other({"c", "a", "b"});
  BOOST_TEST(one.hash() == other.hash());
  BOOST_TEST((one.slot_of("b") == other.slot_of("b")));
}

BOOST_AUTO_TEST_CASE(other_voters_have_another_hash) {
  const uint64_t hash = Electorate({"a", "b", "c"}).hash();
  BOOST_TEST(Electorate({"a", "b", "d"}).hash() != hash);
  BOOST_TEST(Electorate({"a", "b"}).hash() != hash);
  BOOST_TEST(Electorate({"a", "b", "c", "d"}).hash() != hash);
}

BOOST_AUTO_TEST_CASE(names_that_only_run_together_alike_have_another_hash) {
  BOOST_TEST(Electorate({"ab", "c"}).hash() != Electorate({"a", "bc"}).hash());
  BOOST_TEST(Electorate({"abc"}).hash() != Electorate({"a", "b", "c"}).hash());
}

// 0 stands for guard "none" in HELLO.
BOOST_AUTO_TEST_CASE(no_electorate_hashes_to_the_word_for_none) {
  for (size_t voters = 1; voters <= kMaxVoters; ++voters) {
    BOOST_TEST(electorate_of(voters).hash() != 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_vote_counts_once_however_often_it_comes) {
  Votes votes;
  BOOST_TEST(votes.count() == 0u);
  votes.add(2);
  votes.add(2);
  votes.add(8);
  BOOST_TEST(votes.count() == 2u);
  BOOST_TEST(votes.contains(2));
  BOOST_TEST(!votes.contains(0));
  votes.clear();
  BOOST_TEST(votes.count() == 0u);
  BOOST_TEST(!votes.contains(2));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
