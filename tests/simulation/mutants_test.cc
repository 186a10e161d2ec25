// The checks can fail.  For each rule there is a scenario that passes; with the rule broken it must
// not.  And the random schedules must find the broken rule by themselves within a bounded search.
//
// The mutants of tests/model are these rules: NO_WAIT kWaitForPromises, GRANT_BEFORE_PERSIST
// kStoreBeforeGrant, NO_PERSIST kDurableDisk, RELEASE_BEFORE_PERSIST kReleaseWhenStored,
// NO_BOOT_WAIT kBootWait, LEASE_FROM_RECEIPT kLeaseFromSend, a promise that is shorter than the
// lease kFrameLease, DRIFT with equal ones kValidityMargin, FLAG_OFF_LATE kFlagOffBeforeRelease,
// RELEASE_WITHOUT_EPOCH kReleaseNamesEpoch, FALSE_REFUSAL kHonestRefusal, FLAG_SURVIVES
// kFlagEndsInTime, ASK_ONE and ASK_TOO_FEW kRecallFromMajority, ASK_FIRST kRecallAfterWait,
// SAME_IDENTITY kNewIdentity, NO_CLOCK kGuessByClock, NO_LEASE kLeaseToLead, NOT_STICKY kSticky,
// NO_CANVASS kCanvass, TAKE_OVER_AT_ONCE kTakeOverWaits, BEATS_AFTER_LEASE kStepDownWithLease,
// NO_HALT_TIMER PluginRule::kHaltTimer.  GUARD_NONE and CUT_OFF are guard "none":
// tests/scenarios/faults/partition_gives_two_leaders.txt.
//
// A rule without a search needs so many acts in a row, by the right processes, that dice which make
// them often enough would be its scenario; the case says which acts.
#include <boost/test/unit_test.hpp>

#include "mutant_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(mutants)

BOOST_AUTO_TEST_CASE(a_halted_process_without_a_timer_is_caught) {
  check_scenario("no_halt_timer", without(PluginRule::kHaltTimer), kModified);
  check_search(without(PluginRule::kHaltTimer), "modified");
}

BOOST_AUTO_TEST_CASE(leaders_that_do_not_announce_themselves_again_are_caught) {
  check_scenario("no_reannouncement", without(Rule::kReannounce), kBoth);
  check_search(without(Rule::kReannounce), "classic");
}

BOOST_AUTO_TEST_CASE(answers_that_do_not_echo_their_round_are_caught) {
  check_scenario("round_not_echoed", without(PluginRule::kEchoRound), kBoth);
}

BOOST_AUTO_TEST_CASE(a_stale_coordinator_that_is_accepted_is_caught) {
  check_scenario("stale_coordinator", without(Rule::kRefuseStale), kBoth);
  check_search(without(Rule::kRefuseStale), "modified");
}

BOOST_AUTO_TEST_CASE(a_candidate_that_does_not_ask_the_still_higher_ones_is_caught) {
  check_scenario("candidate_not_rechecked", without(PluginRule::kAskStillHigher), kModified);
}

BOOST_AUTO_TEST_CASE(a_claim_without_a_new_epoch_is_caught) {
  check_scenario("claim_without_new_epoch", without(Rule::kClaimRaisesEpoch), kBoth);
  check_search(without(Rule::kClaimRaisesEpoch), "modified");
}

BOOST_AUTO_TEST_CASE(a_flag_that_stays_on_during_a_handover_is_caught) {
  check_scenario("flag_stays_on", without(Rule::kFlagOffBeforeRelease), kBoth);
  check_search(without(Rule::kFlagOffBeforeRelease), "modified");
  check_scenario("guard_flag_stays_on", without(Rule::kFlagOffBeforeRelease), kBoth);
  check_search(without(Rule::kFlagOffBeforeRelease), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(an_election_that_is_not_held_again_is_caught) {
  check_scenario("no_retry", without(Rule::kRetry), kBoth);
  check_search(without(Rule::kRetry), "classic");
}

BOOST_AUTO_TEST_CASE(a_handover_without_a_timeout_is_caught) {
  check_scenario("no_handover_timeout", without(Rule::kHandoverTimeout), kBoth);
  check_search(without(Rule::kHandoverTimeout), "modified");
}

// --- the application ---

BOOST_AUTO_TEST_CASE(a_node_that_leads_without_an_application_is_caught) {
  check_scenario("leads_without_application", without(Rule::kAbleToLead), kBoth);
  check_first_broken("leads_without_application", without(Rule::kAbleToLead),
                     "leads without an application that can work");
  check_search(without(Rule::kAbleToLead), "modified");
  check_search(without(Rule::kAbleToLead), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_leader_that_outlives_its_application_is_caught) {
  check_scenario("application_ends_no_reign", without(Rule::kApplicationEndsReign), kBoth);
  check_first_broken("application_ends_no_reign", without(Rule::kApplicationEndsReign),
                     "leads without an application that can work");
  check_search(without(Rule::kApplicationEndsReign), "modified");
  check_search(without(Rule::kApplicationEndsReign), "classic", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_its_own_successor_is_caught) {
  check_scenario("own_successor", without(Rule::kNotItsOwnSuccessor), kBoth);
  check_first_broken("own_successor", without(Rule::kNotItsOwnSuccessor), "is its own successor");
  check_search(without(Rule::kNotItsOwnSuccessor), "modified");
}

// It breaks no promise, only the margin.
BOOST_AUTO_TEST_CASE(a_take_over_within_the_margin_is_caught) {
  check_scenario("no_margin", without(Rule::kScoreMargin), kBoth);
}

// It breaks no promise, only takes more elections.
BOOST_AUTO_TEST_CASE(scores_that_cause_an_election_each_are_caught) {
  check_scenario("scores_outbid_each_other", without(Rule::kTakeOverOnceABeat), kBoth);
}

// It settles all the same, but by what changes meanwhile.
BOOST_AUTO_TEST_CASE(claims_whose_rank_changes_are_caught) {
  check_scenario("rank_of_an_epoch", without(Rule::kRankOfClaim), kBoth);
}

// --- the end of a reign ---

// Under guard "none" no dice tell: the flag that goes off too early is an ordinary one.
BOOST_AUTO_TEST_CASE(a_leader_that_does_not_wait_for_its_application_is_caught) {
  check_scenario("handover_without_drain", without(Rule::kWaitForDrained), kBoth);
}

BOOST_AUTO_TEST_CASE(a_drain_without_end_is_caught) {
  check_scenario("drain_without_end", without(Rule::kDrainEnds), kBoth);
  check_first_broken("drain_without_end", without(Rule::kDrainEnds), "drains without end");
  check_search(without(Rule::kDrainEnds), "modified");
  check_search(without(Rule::kDrainEnds), "classic", Guarding::kMajority);
}

// It needs two reigns of one node, and an application that finishes for the first in the second.
BOOST_AUTO_TEST_CASE(an_application_that_has_finished_for_another_epoch_is_caught) {
  check_scenario("drained_in_another_epoch", without(Rule::kDrainedOfThis), kBoth);
  check_scenario("../application/late_word_of_a_drain_that_was_called_off",
                 without(Rule::kDrainedOfThis), kBoth);
}

BOOST_AUTO_TEST_CASE(a_flag_that_takes_new_work_again_is_caught) {
  check_scenario("drains_and_takes_new_work", without(Rule::kNothingNew), kBoth);
  check_first_broken("drains_and_takes_new_work", without(Rule::kNothingNew),
                     "takes on new work after it has drained");
  check_search(without(Rule::kNothingNew), "modified");
  check_search(without(Rule::kNothingNew), "modified", Guarding::kStore);
}

BOOST_AUTO_TEST_CASE(a_drain_that_outlives_its_reign_is_caught) {
  check_scenario("drain_outlives_the_reign", without(Rule::kCutByLoss), kBoth);
  check_first_broken("drain_outlives_the_reign", without(Rule::kCutByLoss), "drains without end");
  check_search(without(Rule::kCutByLoss), "modified");
  check_search(without(Rule::kCutByLoss), "classic", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_pushed_aside_is_caught) {
  check_scenario("pushed_aside", without(Rule::kAskTheLeader), kBoth);
  check_first_broken("pushed_aside", without(Rule::kAskTheLeader), "are on together");
  check_search(without(Rule::kAskTheLeader), "classic");
}

BOOST_AUTO_TEST_CASE(who_asks_for_a_place_for_ever_is_caught) {
  check_scenario("asked_for_ever", without(Rule::kAskedInVain), kBoth);
  check_first_broken("asked_for_ever", without(Rule::kAskedInVain),
                     "waits for its leader's place for ever");
  check_search(without(Rule::kAskedInVain), "modified");
}

BOOST_AUTO_TEST_CASE(who_does_not_wait_for_the_application_of_the_leader_is_caught) {
  check_scenario("asker_does_not_wait", without(Rule::kWaitForItsDrain), kBoth);
  check_first_broken("asker_does_not_wait", without(Rule::kWaitForItsDrain), "are on together");
  check_search(without(Rule::kWaitForItsDrain), "modified");
}

// These take one that asks, and something that happens to it within the time of a drain.
BOOST_AUTO_TEST_CASE(a_drain_for_nobody_that_goes_on_is_caught) {
  check_scenario("../application/asker_is_gone_while_the_leader_drains", without(Rule::kCallOff),
                 kBoth);
  check_scenario("../application/step_down_is_called_off", without(Rule::kCallOff), kBoth);
}

BOOST_AUTO_TEST_CASE(who_is_not_told_that_the_leader_stays_is_caught) {
  check_scenario("../application/asker_is_worth_less_by_now", without(Rule::kRefusedLater), kBoth);
}

BOOST_AUTO_TEST_CASE(a_step_down_that_is_forgotten_is_caught) {
  check_scenario("../application/step_down_outlives_the_one_that_asked",
                 without(Rule::kStepDownStands), kBoth);
}

BOOST_AUTO_TEST_CASE(who_does_not_ask_again_is_caught) {
  check_scenario("../application/asker_loses_its_connection", without(Rule::kAskAgain), kBoth);
}

BOOST_AUTO_TEST_CASE(who_asks_in_a_loop_is_caught) {
  for (const char* scenario : {"of_one_that_asks", "of_a_node_that_asks"}) {
    check_scenario(std::string("../application/crash_loop_") + scenario,
                   without(Rule::kAskedInVainTooOften), kBoth);
  }
}

BOOST_AUTO_TEST_CASE(a_drain_that_ends_for_one_that_is_away_is_caught) {
  check_scenario("../application/asker_hangs_while_the_leader_drains",
                 without(Rule::kCallOffAtLast), kBoth);
}

BOOST_AUTO_TEST_CASE(a_next_one_that_is_forgotten_is_caught) {
  check_scenario("../application/crash_loop_above_one_that_asks", without(Rule::kNextAsker), kBoth);
}

BOOST_AUTO_TEST_CASE(who_takes_a_no_for_now_for_the_last_word_is_caught) {
  check_scenario("../application/asks_again_when_it_may", without(Rule::kRefusedForNow), kBoth);
}

BOOST_AUTO_TEST_CASE(an_election_that_cuts_off_work_is_caught) {
  check_scenario("../application/elected_while_its_application_works", without(Rule::kLeadOn),
                 kBoth);
}

// It takes a hand-over, an election that a third one calls while the higher rank stays away, and
// another that the leader calls when it has come back.
BOOST_AUTO_TEST_CASE(a_leader_that_asks_and_does_not_say_that_it_leads_is_caught) {
  check_scenario("../bugs/leader_asked_and_did_not_say_that_it_leads",
                 without(Rule::kAskingLeaderIsNamed), kModified);
}

BOOST_AUTO_TEST_CASE(a_leader_that_tells_others_of_its_handover_is_caught) {
  check_scenario("handover_is_between_two", without(Rule::kHandoverIsSecret), {"classic"});
  check_first_broken("handover_is_between_two", without(Rule::kHandoverIsSecret),
                     "are on together");
}

BOOST_AUTO_TEST_CASE(who_is_asked_to_take_over_and_does_not_say_that_it_cannot_is_caught) {
  check_scenario("handover_is_declined", without(Rule::kDecline), kBoth);
  check_first_broken("handover_is_declined", without(Rule::kDecline), "are on together");
}

BOOST_AUTO_TEST_CASE(who_claims_while_another_is_asked_in_its_stead_is_caught) {
  check_scenario("hold_ends_while_another_is_asked", without(Rule::kOutOfOfferedPlace), kBoth);
  check_first_broken("hold_ends_while_another_is_asked", without(Rule::kOutOfOfferedPlace),
                     "are on together");
}

BOOST_AUTO_TEST_CASE(who_claims_beside_one_that_has_heard_that_it_cannot_lead_is_caught) {
  check_scenario("hold_ends_while_another_elects", without(Rule::kOutOfOthersElection), kBoth);
  check_first_broken("hold_ends_while_another_elects", without(Rule::kOutOfOthersElection),
                     "are on together");
}

// --- what a node notices of itself: so a running sidecar would have ended there ---

BOOST_AUTO_TEST_CASE(a_node_notices_that_it_claims_an_old_epoch) {
  check_first_broken("claim_without_new_epoch", without(Rule::kClaimRaisesEpoch),
                     "claimed an epoch that is not new");
}

BOOST_AUTO_TEST_CASE(a_node_notices_that_its_flag_stays_on) {
  check_first_broken("flag_stays_on", without(Rule::kFlagOffBeforeRelease),
                     "released an epoch while the flag was on");
}

BOOST_AUTO_TEST_CASE(a_voter_notices_that_its_vote_is_not_stored) {
  check_first_broken("guard_granted_before_stored", without(Rule::kStoreBeforeGrant),
                     "told of a vote that the disk does not have");
}

BOOST_AUTO_TEST_CASE(a_voter_notices_that_it_votes_twice) {
  check_first_broken("guard_voted_twice", without(Rule::kVoteOnce), "granted one epoch twice");
}

BOOST_AUTO_TEST_CASE(a_voter_notices_that_its_promise_is_too_short) {
  check_first_broken("guard_own_lease", without(Rule::kFrameLease),
                     "told of a promise that it does not keep");
  check_first_broken("guard_stale_promise", without(Rule::kFreshPromise),
                     "told of a promise that it does not keep");
}

BOOST_AUTO_TEST_CASE(a_leader_notices_that_its_lease_is_over) {
  check_first_broken("guard_no_end_of_the_lease", without(Rule::kStepDownWithLease),
                     "leads beyond its lease");
}

BOOST_AUTO_TEST_CASE(a_leader_notices_that_its_lease_counts_from_the_answer) {
  check_first_broken("guard_lease_from_receipt", without(Rule::kLeaseFromSend),
                     "its flag holds longer than any heartbeat allows");
}

// --- what only all of them together show ---

BOOST_AUTO_TEST_CASE(two_flags_that_are_on_together_are_seen) {
  check_first_broken("guard_no_wait_for_promises", without(Rule::kWaitForPromises),
                     "are on together");
}

BOOST_AUTO_TEST_CASE(a_flag_with_too_few_behind_it_is_seen_before_there_is_a_second_one) {
  check_first_broken("guard_no_boot_wait", without(Rule::kBootWait), "1 of 3 voters bound to it");
}

BOOST_AUTO_TEST_CASE(an_epoch_that_is_led_twice_is_seen) {
  check_first_broken("guard_recalled_from_one", without(Rule::kRecallFromMajority),
                     "is led a second time");
}

// --- guard "majority" ---

BOOST_AUTO_TEST_CASE(a_leader_that_does_not_wait_for_promises_is_caught) {
  check_scenario("guard_no_wait_for_promises", without(Rule::kWaitForPromises), kBoth);
  check_search(without(Rule::kWaitForPromises), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_voter_that_grants_an_epoch_twice_is_caught) {
  check_scenario("guard_voted_twice", without(Rule::kVoteOnce), kBoth);
  check_search(without(Rule::kVoteOnce), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_vote_that_is_given_before_it_is_stored_is_caught) {
  check_scenario("guard_granted_before_stored", without(Rule::kStoreBeforeGrant), kBoth);
  check_search(without(Rule::kStoreBeforeGrant), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_voter_that_forgets_its_promises_at_a_restart_is_caught) {
  check_scenario("guard_no_boot_wait", without(Rule::kBootWait), kBoth);
  check_search(without(Rule::kBootWait), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_voter_that_forgets_for_how_long_it_may_have_promised_is_caught) {
  check_scenario("guard_forgets_too_early", without(Rule::kForgetAfterBootWait), kBoth);
  check_search(without(Rule::kForgetAfterBootWait), "modified", Guarding::kMajority);
  check_scenario("guard_no_boot_wait", without(Rule::kRememberThisLife), kBoth);
  check_search(without(Rule::kRememberThisLife), "modified", Guarding::kMajority);
}

// No promise is broken, but none is made to the leader that has the vote.
BOOST_AUTO_TEST_CASE(a_voter_that_forgets_a_lease_and_promises_nothing_for_that_is_caught) {
  check_scenario("guard_forgets_unknown_terms", without(Rule::kForgetWhenKnown), kBoth);
  check_scenario("guard_waits_for_the_shorter_lease", without(Rule::kForgetInPassing), kBoth);
}

BOOST_AUTO_TEST_CASE(a_lease_that_counts_from_the_answer_is_caught) {
  check_scenario("guard_lease_from_receipt", without(Rule::kLeaseFromSend), kBoth);
  check_search(without(Rule::kLeaseFromSend), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_leader_that_counts_the_whole_lease_is_caught) {
  check_scenario("guard_no_validity_margin", without(Rule::kValidityMargin), kBoth);
  check_search(without(Rule::kValidityMargin), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_release_that_voids_promises_of_later_epochs_is_caught) {
  check_scenario("guard_released_by_an_earlier_epoch", without(Rule::kReleaseNamesEpoch), kBoth);
  check_search(without(Rule::kReleaseNamesEpoch), "modified", Guarding::kMajority);
}

// A claim that one voter alone hears, while its disk is behind; that voter's crash, a leader in the
// same epoch without it, and a second partition.
BOOST_AUTO_TEST_CASE(a_release_that_the_disk_may_lose_is_caught) {
  check_scenario("guard_unstored_release", without(Rule::kReleaseWhenStored), kBoth);
}

BOOST_AUTO_TEST_CASE(a_promise_for_another_lease_than_the_leaders_is_caught) {
  check_scenario("guard_own_lease", without(Rule::kFrameLease), kBoth);
  check_search(without(Rule::kFrameLease), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_promise_that_counts_from_before_its_heartbeat_is_caught) {
  check_scenario("guard_stale_promise", without(Rule::kFreshPromise), kBoth);
  check_search(without(Rule::kFreshPromise), "classic", Guarding::kMajority);
}

// A leader by a bare majority, the loss of one of its voters' disks, and the death of all the
// others of this majority while those are asked that were not part of it.
BOOST_AUTO_TEST_CASE(a_voter_that_recalls_from_one_other_is_caught) {
  check_scenario("guard_recalled_from_one", without(Rule::kRecallFromMajority), kBoth);
}

// A reign that only a majority has seen which then loses its state, all of it.
BOOST_AUTO_TEST_CASE(a_guess_that_does_not_follow_the_clock_is_caught) {
  check_scenario("guard_guessed_without_clock", without(Rule::kGuessByClock), kBoth);
  check_first_broken("guard_guessed_without_clock", without(Rule::kGuessByClock),
                     "is led a second time");
}

// A claim that comes late, to a voter that has forgotten its vote for another in this epoch.
BOOST_AUTO_TEST_CASE(a_voter_that_believes_an_older_state_is_caught) {
  check_scenario("guard_believes_an_older_state", without(Rule::kDoubtState), kBoth);
  check_first_broken("guard_believes_an_older_state", without(Rule::kDoubtState),
                     "votes twice in epoch 2");
}

// The restart of a voter without its state, within a lease for which its was the deciding promise.
BOOST_AUTO_TEST_CASE(a_voter_that_recalls_while_old_leases_run_is_caught) {
  check_scenario("guard_recalled_too_early", without(Rule::kRecallAfterWait), kBoth);
}

BOOST_AUTO_TEST_CASE(a_claim_without_a_canvass_is_caught) {
  check_scenario("guard_no_canvass", without(Rule::kCanvass), kBoth);
  check_search(without(Rule::kCanvass), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_voter_that_forsakes_its_leader_is_caught) {
  check_scenario("guard_not_sticky", without(Rule::kSticky), kBoth);
  check_search(without(Rule::kSticky), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_claimant_that_leads_by_grants_alone_is_caught) {
  check_scenario("guard_leads_without_lease", without(Rule::kLeaseToLead), kBoth);
  check_search(without(Rule::kLeaseToLead), "modified", Guarding::kMajority);
}

// It breaks no promise: only the number of claims in a story whose faults are known tells.
BOOST_AUTO_TEST_CASE(a_take_over_that_never_waits_is_caught) {
  check_scenario("guard_take_over_at_once", without(Rule::kTakeOverWaits), kBoth);
}

BOOST_AUTO_TEST_CASE(a_leader_that_outlives_its_lease_is_caught) {
  check_scenario("guard_no_end_of_the_lease", without(Rule::kStepDownWithLease), kBoth);
  check_search(without(Rule::kStepDownWithLease), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_proof_from_behind_a_proxy_is_caught) {
  check_scenario("guard_proof_through_a_proxy", without(Assumption::kDirectProof), kBoth);
  check_first_broken("guard_proof_through_a_proxy", without(Assumption::kDirectProof),
                     "1 of 3 voters bound to it");
  check_search(without(Assumption::kDirectProof), "modified", Guarding::kMajority);
}

// Proxies that nobody sees, before all nodes at once: where only some are behind them, or are
// linked to one peer alone, the operator's word is broken, and the dice would break it.
BOOST_AUTO_TEST_CASE(a_proof_of_all_deaths_at_once_is_caught) {
  check_scenario("guard_proof_of_all_at_once", without(Assumption::kProofApart), kBoth);
  check_first_broken("guard_proof_of_all_at_once", without(Assumption::kProofApart),
                     "1 of 3 voters bound to it");
}

BOOST_AUTO_TEST_CASE(a_leader_that_stops_without_a_word_is_caught) {
  check_scenario("guard_no_resignation", without(Rule::kResignAtEnd), kBoth);
  check_search(without(Rule::kResignAtEnd), "modified", Guarding::kMajority);
}

// --- what the guard takes for granted of its world ---

BOOST_AUTO_TEST_CASE(a_clock_that_stands_still_while_its_host_sleeps_is_caught) {
  check_scenario("guard_suspended_leader", without(Assumption::kBootTime), kBoth);
  check_search(without(Assumption::kBootTime), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_disk_that_forgets_what_it_said_it_has_is_caught) {
  check_scenario("guard_no_boot_wait", without(Assumption::kDurableDisk), kBoth);
  check_search(without(Assumption::kDurableDisk), "modified", Guarding::kMajority);
}

// A claim that one voter alone hears, a loss of the state and ten seconds of silence, another reign
// of the same epoch, and the partition that ends it.
BOOST_AUTO_TEST_CASE(a_voter_that_keeps_its_id_without_its_state_is_caught) {
  check_scenario("guard_same_identity", without(Assumption::kNewIdentity), kBoth);
}

BOOST_AUTO_TEST_CASE(a_refusal_that_proves_nothing_is_caught) {
  check_scenario("guard_false_refusal", without(Assumption::kHonestRefusal), kBoth);
  check_search(without(Assumption::kHonestRefusal), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_CASE(a_flag_that_outlives_its_process_is_caught) {
  check_scenario("guard_flag_outlives_its_process", without(Assumption::kFlagEndsInTime), kBoth);
  check_search(without(Assumption::kFlagEndsInTime), "modified", Guarding::kMajority);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
