// The checks can fail, for guards on a store: see mutants_test.cc.
//
// The mutants of tests/model/store.pml are these rules: NO_COND kConditionalWrite, NOTAG
// kReleaseFitsRecord, NO_WAIT kWaitForRecord, WAIT_FROM_REQUEST kSightFromAnswer, LEASE_FROM_ANSWER
// kLeaseFromRequest, EARLY_FLAG kLeadWhenWritten, LATE_ANSWER kGivenUpForGood, RESUME
// kNeverResumed, HAND_FLAG_ON kFlagOffBeforeRelease, HAND_NEXT kGiveTheSameEpoch, GIVES_ANY
// kGiveOwnOnly, NO_STORE kLeadWhenStored and kReleaseWhenStored, FLAG_SURVIVES kFlagEndsInTime,
// PROOF_FALSE kHonestRefusal, PROOF_KEPT kProofOfThisLife, MAKE_CLAIMS kMakeUnheld, NO_VF
// kHeldByFlag, EDIT_IS_RELEASE kEmptyIsUnknown, LEN_RECORD kLongestLength, DF = DL under RATE
// kRecordMargin, SEED_KNOWN kClockForNew, NO_S3 kNewestOnly, NO_ELECTABLE kNotElectableWhenAway,
// NO_MAKE kMakeRecord.
#include <boost/test/unit_test.hpp>

#include "mutant_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(store_mutants)

BOOST_AUTO_TEST_CASE(a_claimant_that_does_not_wait_for_the_record_is_caught) {
  check_scenario("store_no_wait", without(Rule::kWaitForRecord), kBoth);
  check_search(without(Rule::kWaitForRecord), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_release_of_an_earlier_epoch_that_counts_is_caught) {
  check_scenario("store_any_release_counts", without(Rule::kReleaseFitsRecord), kBoth);
  check_search(without(Rule::kReleaseFitsRecord), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_proof_that_is_held_against_the_next_life_is_caught) {
  check_scenario("store_proof_of_an_earlier_life", without(Rule::kProofOfThisLife), kBoth);
  check_search(without(Rule::kProofOfThisLife), "modified", Guarding::kStore);
}

// These cost time alone: no promise is broken.
BOOST_AUTO_TEST_CASE(a_reading_that_a_candidate_without_proof_interrupts_is_caught) {
  check_scenario("store_proof_at_a_slow_store", without(Rule::kGoesOnWithProof), kBoth);
}

BOOST_AUTO_TEST_CASE(a_last_renewal_that_passes_for_a_sign_of_life_is_caught) {
  check_scenario("store_proof_at_a_slow_store", without(Rule::kProofOutlastsRenewals), kBoth);
}

BOOST_AUTO_TEST_CASE(a_candidate_that_tells_the_same_one_to_claim_again_and_again_is_caught) {
  check_scenario("store_told_one_after_the_other", without(Rule::kToldInTurn), kBoth);
}

BOOST_AUTO_TEST_CASE(a_claim_over_what_was_seen_long_ago_is_caught) {
  check_scenario("store_old_sight", without(Rule::kReadOldSight), kBoth);
}

BOOST_AUTO_TEST_CASE(a_copied_state_that_is_taken_for_the_own_one_is_caught) {
  check_scenario("store_twin_leads", without(Rule::kHome), kBoth);
  check_search(without(Rule::kHome), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_hand_over_of_an_epoch_before_the_last_is_caught) {
  check_scenario("../bugs/record_was_made_anew_during_a_drain", without(Rule::kGivesNoLowerEpoch),
                 kBoth);
  check_scenario("../bugs/successor_gave_the_record_back", without(Rule::kGivesNoLowerEpoch),
                 kBoth);
}

BOOST_AUTO_TEST_CASE(a_leader_that_does_not_know_its_last_claim_is_caught) {
  check_scenario("../bugs/transfer_while_the_leader_claimed_anew",
                 without(Rule::kGivesWhatItClaimed), kBoth);
}

BOOST_AUTO_TEST_CASE(a_bid_that_outlasts_its_disk_is_caught) {
  check_scenario("../bugs/disk_failed_while_it_asked", without(Rule::kBidNeedsADisk), kBoth);
  check_scenario("../bugs/disk_hung_while_it_asked", without(Rule::kBidNeedsADisk), kBoth);
}

BOOST_AUTO_TEST_CASE(a_timer_of_one_claim_that_ends_the_next_is_caught) {
  check_scenario("../bugs/claim_was_ended_by_the_timer_of_the_last",
                 without(Rule::kDiskOfThisClaim), kBoth);
}

BOOST_AUTO_TEST_CASE(a_question_that_outlasts_the_wish_to_stay_away_is_caught) {
  check_scenario("../bugs/twin_renewed_while_it_was_asked", without(Rule::kAwayHasAnEnd), kBoth);
}

BOOST_AUTO_TEST_CASE(an_empty_holder_that_is_taken_for_a_release_is_caught) {
  check_scenario("store_emptied_by_hand", without(Rule::kEmptyIsUnknown), kBoth);
  check_search(without(Rule::kEmptyIsUnknown), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_new_record_that_is_taken_by_anybody_is_caught) {
  check_scenario("store_made_anew", without(Rule::kHeldByFlag), kBoth);
  check_search(without(Rule::kHeldByFlag), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(whoever_makes_the_record_in_its_own_name_is_caught) {
  check_scenario("store_made_in_its_own_name", without(Rule::kMakeUnheld), kBoth);
  check_search(without(Rule::kMakeUnheld), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_length_that_was_shortened_by_hand_and_counts_is_caught) {
  check_scenario("store_shortened_by_hand", without(Rule::kLongestLength), kBoth);
  check_search(without(Rule::kLongestLength), "modified", Guarding::kStore);
}

// Random schedules give all the same lease, for who never met another does not know its lease.
BOOST_AUTO_TEST_CASE(a_lease_of_another_member_that_does_not_count_is_caught) {
  check_scenario("store_lease_of_members", without(Rule::kLeaseOfMembers), kBoth);
}

BOOST_AUTO_TEST_CASE(an_epoch_of_a_new_record_without_the_clock_is_caught) {
  check_scenario("store_epoch_without_clock", without(Rule::kClockForNew), kBoth);
  check_search(without(Rule::kClockForNew), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_record_that_nobody_makes_is_caught) {
  check_scenario("store_never_made", without(Rule::kMakeRecord), kBoth);
  check_search(without(Rule::kMakeRecord), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_flag_that_counts_from_the_stores_answer_is_caught) {
  check_scenario("store_lease_from_answer", without(Rule::kLeaseFromRequest), kBoth);
  check_search(without(Rule::kLeaseFromRequest), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_flag_that_leaves_no_margin_for_clocks_is_caught) {
  check_scenario("store_no_margin", without(Rule::kRecordMargin), kBoth);
  check_search(without(Rule::kRecordMargin), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_claimant_that_leads_before_the_store_has_it_is_caught) {
  check_scenario("store_leads_before_written", without(Rule::kLeadWhenWritten), kBoth);
  check_search(without(Rule::kLeadWhenWritten), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_store_that_writes_without_a_condition_is_caught) {
  check_scenario("store_two_claim_at_once", without(Assumption::kConditionalWrite), kBoth);
  check_search(without(Assumption::kConditionalWrite), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_claimant_that_leads_before_its_disk_has_it_is_caught) {
  check_scenario("store_leads_before_stored", without(Rule::kLeadWhenStored), kBoth);
  check_search(without(Rule::kLeadWhenStored), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_late_answer_that_is_looked_at_is_caught) {
  check_scenario("store_answer_after_the_claim_was_given_up", without(Rule::kGivenUpForGood),
                 kBoth);
  check_search(without(Rule::kGivenUpForGood), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(an_epoch_that_is_led_again_is_caught) {
  check_scenario("store_resumed", without(Rule::kNeverResumed), kBoth);
  check_search(without(Rule::kNeverResumed), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_hand_over_that_names_the_next_epoch_is_caught) {
  check_scenario("store_next_epoch_by_name", without(Rule::kGiveTheSameEpoch), kBoth);
  check_search(without(Rule::kGiveTheSameEpoch), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_hand_over_that_is_told_before_it_is_written_is_caught) {
  check_scenario("store_word_before_the_record", without(Rule::kGiveBeforeWord), kBoth);
  check_search(without(Rule::kGiveBeforeWord), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_leader_that_hands_over_what_is_its_successors_is_caught) {
  check_scenario("store_handed_over_twice", without(Rule::kGiveOwnOnly), kBoth);
  check_search(without(Rule::kGiveOwnOnly), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(whoever_is_cut_off_from_the_store_and_says_nothing_is_caught) {
  check_scenario("store_away_and_yet_electable", without(Rule::kNotElectableWhenAway), kBoth);
  check_search(without(Rule::kNotElectableWhenAway), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_leader_that_stays_below_an_epoch_that_others_know_is_caught) {
  check_scenario("store_no_new_epoch", without(Rule::kReclaim), kBoth);
  check_search(without(Rule::kReclaim), "modified", Guarding::kStore);
}

// It breaks no promise.
BOOST_AUTO_TEST_CASE(a_leader_that_never_gives_way_is_caught) {
  check_scenario("store_never_gives_way", without(Rule::kAskForPlace), kBoth);
}

// It costs a part of a lease, which a random schedule seldom shows.
BOOST_AUTO_TEST_CASE(a_next_in_line_that_does_not_watch_is_caught) {
  check_scenario("store_nobody_watches", without(Rule::kWatchNextOnly), kBoth);
}

// Patience that is longer than the margin, and the leader cut off from everything at once.
BOOST_AUTO_TEST_CASE(a_length_that_counts_from_the_request_is_caught) {
  check_scenario("store_sight_from_request", without(Rule::kSightFromAnswer), kBoth);
}

BOOST_AUTO_TEST_CASE(a_flag_that_outlives_its_process_under_a_store_is_caught) {
  check_scenario("store_flag_outlives_its_process", without(Assumption::kFlagEndsInTime), kBoth);
  check_search(without(Assumption::kFlagEndsInTime), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_refusal_that_proves_nothing_under_a_store_is_caught) {
  check_scenario("store_false_refusal", without(Assumption::kHonestRefusal), kBoth);
  check_search(without(Assumption::kHonestRefusal), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_flag_that_stays_on_while_the_record_is_given_is_caught) {
  check_scenario("store_flag_stays_on", without(Rule::kFlagOffBeforeRelease), kBoth);
  check_search(without(Rule::kFlagOffBeforeRelease), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_clock_that_stands_still_under_a_store_is_caught) {
  check_scenario("store_suspended_leader", without(Assumption::kBootTime), kBoth);
  check_search(without(Assumption::kBootTime), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_leader_that_outlives_its_record_is_caught) {
  check_scenario("store_no_end_of_the_lease", without(Rule::kStepDownWithLease), kBoth);
  check_search(without(Rule::kStepDownWithLease), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_release_that_the_disk_may_lose_under_a_store_is_caught) {
  check_scenario("store_unstored_release", without(Rule::kReleaseWhenStored), kBoth);
  check_search(without(Rule::kReleaseWhenStored), "modified", Guarding::kStore);
}

// It hears of the later epoch while its own claim is with the store, from one that does not lead.
BOOST_AUTO_TEST_CASE(a_claimant_that_leads_below_what_it_has_heard_is_caught) {
  check_search(without(Rule::kNewestOnly), "modified", Guarding::kStore);
}

// --- what a node notices of itself ---

BOOST_AUTO_TEST_CASE(a_leader_notices_that_its_flag_holds_longer_than_its_record) {
  check_first_broken("store_lease_from_answer", without(Rule::kLeaseFromRequest),
                     "its flag holds longer than any write allows");
  check_first_broken("store_no_end_of_the_lease", without(Rule::kStepDownWithLease),
                     "leads beyond its lease");
}

BOOST_AUTO_TEST_CASE(a_node_notices_that_its_disk_may_lose_what_it_says) {
  check_first_broken("store_leads_before_stored", without(Rule::kLeadWhenStored),
                     "leads an epoch that its disk may lose");
  check_first_broken("store_unstored_release", without(Rule::kReleaseWhenStored),
                     "released an epoch that its disk may lose");
}

BOOST_AUTO_TEST_CASE(a_node_notices_that_it_leads_what_it_has_given_up) {
  check_first_broken("store_next_epoch_by_name", without(Rule::kGiveTheSameEpoch),
                     "leads an epoch that it has released");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
