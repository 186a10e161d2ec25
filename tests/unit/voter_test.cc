// A voter alone, without a node: votes, promises, and what it has forgotten.
#include "core/voter.hh"

#include <boost/test/unit_test.hpp>

#include "core/disk_watch.hh"
#include "core/lease.hh"
#include "node_harness.hh"

namespace bellwether::tests {
namespace voter_alone {
namespace {

using bellwether::Voter;
using std::chrono::milliseconds;

constexpr uint64_t kVoters = 77;

Instant time_of(int ms) { return Instant(milliseconds(ms)); }

struct VoterFixture {
  Claim claim(uint32_t claimant, uint64_t epoch, Duration lease = seconds(1)) const {
    return {.claimant = uuid(claimant),
            .is_of_voter = true,
            .epoch = epoch,
            .sequence = 1,
            .terms = {.voters = kVoters, .lease = lease}};
  }
  Objection objection_to(const Claim& claim, bool is_supported = true) const {
    return voter.objection_to(claim, vote, is_supported);
  }
  void vote_for(const Claim& claim) { vote = voter.vote_for(claim, vote); }

  Voter voter{kVoters};
  Record vote{.max_epoch = 4};
};

}  // namespace
}  // namespace voter_alone

BOOST_FIXTURE_TEST_SUITE(voter_alone, voter_alone::VoterFixture)

BOOST_AUTO_TEST_CASE(an_epoch_is_granted_to_one_claimant_only) {
  BOOST_TEST((objection_to(claim(1, 5)) == Objection::kNone));
  vote_for(claim(1, 5));
  BOOST_TEST(vote.max_epoch == 5u);
  BOOST_TEST((vote.granted_to == uuid(1)));
  BOOST_TEST((objection_to(claim(2, 5)) == Objection::kStale));
  BOOST_TEST((objection_to(claim(1, 5)) == Objection::kNone));
  BOOST_TEST((objection_to(claim(2, 4)) == Objection::kStale));
}

BOOST_AUTO_TEST_CASE(each_objection_has_its_claim) {
  Claim strange = claim(1, 5);
  strange.terms.voters = 1;
  BOOST_TEST((objection_to(strange) == Objection::kOtherVoters));
  strange = claim(1, 5);
  strange.is_of_voter = false;
  BOOST_TEST((objection_to(strange) == Objection::kOtherVoters));
  BOOST_TEST((objection_to(claim(1, 5, milliseconds(1))) == Objection::kLease));
  BOOST_TEST((objection_to(claim(1, 5), false) == Objection::kLeader));
  voter.set_store_broken(true);
  BOOST_TEST((objection_to(claim(1, 5)) == Objection::kStore));
  voter.recall.begin(time_of(0) + kMaxLease);
  BOOST_TEST((objection_to(claim(1, 5)) == Objection::kLost));
  BOOST_TEST(!voter.has_vote());
}

BOOST_AUTO_TEST_CASE(what_was_granted_and_forgotten_may_go_to_whoever_leads_it) {
  Claim late = claim(1, 4);
  BOOST_TEST((objection_to(late) == Objection::kStale));
  late.is_effective = true;
  BOOST_TEST((objection_to(late) == Objection::kNone));
}

BOOST_AUTO_TEST_CASE(the_longest_lease_is_remembered) {
  vote_for(claim(1, 5, seconds(2)));
  vote_for(claim(2, 6, seconds(1)));
  BOOST_TEST((vote.lease_seen == seconds(2)));
}

BOOST_AUTO_TEST_CASE(a_grant_is_a_promise_and_lists_those_that_still_run) {
  vote_for(claim(1, 5));
  BOOST_TEST(voter.grant(vote, time_of(0)).waits.empty());
  vote_for(claim(2, 6));
  const Grant grant = voter.grant(vote, time_of(400));
  BOOST_TEST(grant.sequence == 1u);
  BOOST_REQUIRE(grant.waits.size() == 1u);
  BOOST_TEST((grant.waits.front().leader == uuid(1)));
  BOOST_TEST((grant.waits.front().left == milliseconds(600)));
  BOOST_TEST(voter.promises(time_of(1000)).all().size() == 1u);
  BOOST_TEST(voter.release(uuid(2), 6));
  BOOST_TEST(voter.promises().all().empty());
}

BOOST_AUTO_TEST_CASE(only_the_one_that_has_the_vote_is_promised_again) {
  vote_for(claim(1, 5));
  BOOST_TEST(voter.promise_again(claim(1, 5), vote, time_of(0)));
  BOOST_TEST(!voter.promise_again(claim(2, 5), vote, time_of(0)));
  BOOST_TEST(!voter.promise_again(claim(1, 4), vote, time_of(0)));
  BOOST_TEST(!voter.promise_again(claim(1, 5, seconds(2)), vote, time_of(0)));
  voter.set_store_broken(true);
  BOOST_TEST(!voter.promise_again(claim(1, 5), vote, time_of(0)));
}

BOOST_AUTO_TEST_CASE(what_was_heard_while_the_vote_was_stored_is_granted) {
  vote_for(claim(1, 5));
  Claim beat = claim(1, 5);
  beat.sequence = 7;
  voter.hear_again(beat, vote);
  Claim other = claim(2, 5);
  other.sequence = 8;
  voter.hear_again(other, vote);
  Claim longer = claim(1, 5, seconds(2));
  longer.sequence = 9;
  voter.hear_again(longer, vote);
  voter.hear_again(claim(1, 5), vote);  // comes twice
  BOOST_TEST(voter.promises().all().empty());
  BOOST_TEST(voter.grant(vote, time_of(850)).sequence == 7u);
  BOOST_TEST(voter.promises(time_of(1849)).all().size() == 1u);
}

BOOST_AUTO_TEST_CASE(after_a_restart_grants_wait_and_the_terms_come_with_the_next_beat) {
  const Record kept{.max_epoch = 5, .granted_to = uuid(1), .lease_seen = seconds(1)};
  voter.start(time_of(0), kept);
  BOOST_TEST((voter.grant(kept, time_of(300)).boot_wait == milliseconds(700)));
  Voter restarted{kVoters};
  BOOST_TEST(!restarted.promise_again(claim(1, 5, seconds(2)), kept, time_of(0)));
  BOOST_TEST(restarted.promise_again(claim(1, 5), kept, time_of(0)));
  BOOST_TEST((restarted.terms().lease == seconds(1)));
}

BOOST_AUTO_TEST_CASE(once_they_are_over_the_leases_of_earlier_lives_are_forgotten) {
  vote.lease_seen = seconds(10);
  voter.start(time_of(0), vote);
  const auto remembered_at = [&](int ms) {
    return voter.without_earlier_lives(vote, time_of(ms)).lease_seen;
  };
  BOOST_TEST((remembered_at(10000) == seconds(10)));  // it knows no terms
  vote_for(claim(1, 5, seconds(2)));
  vote_for(claim(2, 6, seconds(1)));
  BOOST_TEST((remembered_at(9999) == seconds(10)));
  BOOST_TEST((remembered_at(10000) == seconds(2)));
  vote = voter.vote_for_self(uuid(3), 7, seconds(3), vote);
  BOOST_TEST((vote == Record{7, uuid(3), seconds(10)}));
  BOOST_TEST((remembered_at(10000) == seconds(3)));
}

BOOST_AUTO_TEST_CASE(the_terms_of_a_vote_of_an_earlier_life_are_of_this_life_once_they_are_known) {
  vote = {.max_epoch = 5, .granted_to = uuid(1), .lease_seen = seconds(10)};
  voter.start(time_of(0), vote);
  BOOST_TEST((voter.without_earlier_lives(vote, time_of(10000)) == vote));
  BOOST_TEST(voter.promise_again(claim(1, 5, seconds(4)), vote, time_of(10000)));
  BOOST_TEST((voter.without_earlier_lives(vote, time_of(10000)).lease_seen == seconds(4)));
}

BOOST_AUTO_TEST_CASE(answers_to_an_earlier_question_count_no_more) {
  Recall recall;
  recall.begin(time_of(10));
  recall.ask();
  recall.note_reply(1, false);
  recall.note_reply(2, true);
  BOOST_TEST(recall.recalled() == 1u);
  BOOST_TEST(recall.answered() == 2u);
  recall.ask();
  BOOST_TEST(recall.answered() == 0u);
  BOOST_TEST(recall.does_anybody_remember());
  recall.end();
  BOOST_TEST(!recall.is_lost());
}

BOOST_AUTO_TEST_CASE(a_disk_is_late_when_the_newest_record_has_waited_for_too_long) {
  DiskWatch disk(vote);
  const Record newer{.max_epoch = 5};
  BOOST_TEST(!disk.look(newer, time_of(0), milliseconds(100)));
  BOOST_TEST(!disk.look(newer, time_of(100), milliseconds(100)));
  BOOST_TEST(disk.look(newer, time_of(101), milliseconds(100)));
  BOOST_TEST(disk.is_late());
  disk.on_stored(newer);
  BOOST_TEST(disk.look(newer, time_of(102), milliseconds(100)));
  BOOST_TEST(!disk.is_late());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
