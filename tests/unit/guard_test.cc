// What guard "majority" remembers, without a node: what a voter's vote is worth, and what keeps it
// from claiming.
#include "core/guard.hh"

#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace majority {
namespace {

Instant time_of(int ms) { return Instant(milliseconds(ms)); }

struct MajorityFixture {
  Options options{.voters = {"n1", "n2", "n3"}};
  Majority voter{options, "n1", Record{}};
  Majority follower{options, "n4", Record{}};

  Vote vote(bool has_leader = false) const { return voter.vote(time_of(1000), has_leader); }
  // It wants to store something, and the disk says nothing for a second.
  void disk_stands_still() {
    voter.disk.look(Record{.max_epoch = 1}, time_of(0), milliseconds(500));
    voter.disk.look(Record{.max_epoch = 1}, time_of(1000), milliseconds(500));
  }
};

}  // namespace
}  // namespace majority

BOOST_FIXTURE_TEST_SUITE(majority, majority::MajorityFixture)

BOOST_AUTO_TEST_CASE(a_voter_that_reaches_a_majority_may_claim) {
  BOOST_TEST((voter.obstacle(2) == Obstacle::kNone));
  BOOST_TEST((voter.obstacle(1) == Obstacle::kNoContact));
  BOOST_TEST((vote() == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(a_follower_has_no_vote_and_never_claims) {
  BOOST_TEST((follower.obstacle(3) == Obstacle::kNoVoter));
  BOOST_TEST((follower.vote(time_of(0), true) == Vote::kNone));
}

BOOST_AUTO_TEST_CASE(a_voter_that_has_forgotten_has_no_vote_and_does_not_claim) {
  voter.voter.recall.begin(time_of(500));
  BOOST_TEST((voter.obstacle(3) == Obstacle::kForgotten));
  BOOST_TEST((vote() == Vote::kForgotten));
  voter.voter.recall.end();
  BOOST_TEST((vote() == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(a_voter_whose_disk_fails_has_no_vote_and_does_not_claim) {
  voter.voter.set_store_broken(true);
  BOOST_TEST((voter.obstacle(3) == Obstacle::kNoDisk));
  BOOST_TEST((vote() == Vote::kBroken));
}

BOOST_AUTO_TEST_CASE(a_voter_whose_disk_does_not_answer_lets_others_claim) {
  disk_stands_still();
  BOOST_TEST((voter.obstacle(3) == Obstacle::kNoDisk));
  BOOST_TEST((vote() == Vote::kBroken));
}

// Of two reasons the vote names the disk, and the obstacle what was forgotten.
BOOST_AUTO_TEST_CASE(a_voter_that_has_forgotten_and_has_no_disk_says_both) {
  voter.voter.recall.begin(time_of(500));
  disk_stands_still();
  BOOST_TEST((voter.obstacle(3) == Obstacle::kForgotten));
  BOOST_TEST((vote() == Vote::kBroken));
}

BOOST_AUTO_TEST_CASE(a_voter_without_a_leader_can_be_shut_out_and_with_one_it_is_the_other) {
  voter.shut_out_until = time_of(1001);
  BOOST_TEST((vote() == Vote::kShutOut));
  BOOST_TEST((vote(true) == Vote::kInForce));
  voter.shut_out_until = time_of(1000);
  BOOST_TEST((vote() == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(two_voters_with_one_list_ask_for_the_same) {
  const Majority other(Options{.voters = {"n3", "n1", "n2"}}, "n2", Record{});
  BOOST_TEST(voter.terms().voters == other.terms().voters);
  BOOST_TEST((voter.terms().lease == options.lease));
  BOOST_TEST(*voter.slot != *other.slot);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
