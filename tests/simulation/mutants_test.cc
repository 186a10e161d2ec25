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

// These four: a score, an application or a member changes within the round trip of one message, for
// which the campaign takes a million schedules.

BOOST_AUTO_TEST_CASE(a_rank_that_changes_in_an_election_is_caught) {
  check_scenario("outranks_those_it_asked", without(Rule::kRankInElection), kClassic);
}

BOOST_AUTO_TEST_CASE(one_that_leads_after_it_has_declined_is_caught) {
  check_scenario("asked_again_after_it_declined", without(Rule::kDeclinedOnce), kClassic);
}

BOOST_AUTO_TEST_CASE(a_word_from_before_the_question_that_counts_as_its_answer_is_caught) {
  check_scenario("word_from_before_the_handover", without(Rule::kAnswersThisLeader), kBoth);
}

BOOST_AUTO_TEST_CASE(a_new_life_that_is_believed_for_good_is_caught) {
  check_scenario("new_life_changed_its_mind", without(Rule::kListAfterNewLife), kClassic);
}

// What these break is seen by nobody but the scenario: a group that does without somebody is whole.

BOOST_AUTO_TEST_CASE(a_voter_that_says_no_for_ever_is_caught) {
  check_scenario("../bugs/outranks_before_the_voters_know", without(Rule::kOpinionsChange), kBoth);
}

BOOST_AUTO_TEST_CASE(a_take_over_that_is_given_up_for_good_is_caught) {
  check_scenario("../bugs/takeover_nobody_answered", without(Rule::kTakeOverAfterSilence), kBoth);
}

BOOST_AUTO_TEST_CASE(a_take_over_that_is_tried_without_end_is_caught) {
  check_scenario("../bugs/canvassed_without_end", without(Rule::kChangeOfMind), kBoth);
  check_scenario("../bugs/takeover_was_refused", without(Rule::kNoIsAnAnswer), kBoth);
  check_scenario("../bugs/answers_take_longer_than_the_timeout", without(Rule::kMorePatience),
                 kBoth);
}

BOOST_AUTO_TEST_CASE(a_yes_that_comes_late_and_counts_for_nothing_is_caught) {
  check_scenario("../bugs/voter_was_slow_to_answer", without(Rule::kLateYes), kBoth);
}

BOOST_AUTO_TEST_CASE(one_that_leads_after_it_gave_way_is_caught) {
  check_scenario("../bugs/gave_way_to_one_that_fell", without(Rule::kGivesWay), kBoth);
}

BOOST_AUTO_TEST_CASE(one_that_is_kept_out_of_an_election_that_is_over_is_caught) {
  check_scenario("../bugs/kept_out_for_ever", without(Rule::kAsksAnew), kClassic);
  check_scenario("../bugs/stayed_with_its_leader", without(Rule::kStaysWithItsLeader), kBoth);
  check_scenario("../bugs/declined_and_able_again", without(Rule::kResignedInVain), kBoth);
}

BOOST_AUTO_TEST_CASE(a_voter_that_is_ready_without_its_vote_is_caught) {
  check_scenario("../guard/rolling_replacement", without(Rule::kReadyWithVote), kBoth);
}

BOOST_AUTO_TEST_CASE(first_epochs_that_are_not_believed_are_caught) {
  check_scenario("../bugs/first_epochs_years_apart", without(Rule::kFirstEpochsApart), kBoth);
}

BOOST_AUTO_TEST_CASE(an_election_that_is_not_held_again_is_caught) {
  check_scenario("no_retry", without(Rule::kRetry), kBoth);
  check_search(without(Rule::kRetry), "classic");
}

BOOST_AUTO_TEST_CASE(a_handover_without_a_timeout_is_caught) {
  check_scenario("no_handover_timeout", without(Rule::kHandoverTimeout), kBoth);
  check_search(without(Rule::kHandoverTimeout), "modified");
}

// No invariant speaks of who is a member, and random schedules fill no group.

BOOST_AUTO_TEST_CASE(an_older_id_of_a_name_that_stays_is_caught) {
  check_scenario("older_id_stays", without(Rule::kOneIdOfAName), kBoth);
}

BOOST_AUTO_TEST_CASE(a_full_group_in_which_the_wrong_one_gives_way_is_caught) {
  check_scenario("full_group_makes_room", without(Rule::kMakesRoom), kBoth);
  check_scenario("full_group_makes_room", without(Rule::kLeftGivesWayFirst), kBoth);
  check_scenario("full_group_forgets_the_longest_gone", without(Rule::kLongestGoneGivesWay), kBoth);
  check_scenario("full_group_forgets_one", without(Rule::kHearsayOfTheGoneMakesNoRoom), kBoth);
  check_scenario("guard_voter_gives_no_way", without(Rule::kVotersGiveNoWay), kBoth);
  check_scenario("guard_room_for_voters", without(Rule::kRoomForVoters), kBoth);
}

BOOST_AUTO_TEST_CASE(a_refused_process_that_stays_connected_is_caught) {
  check_scenario("refused_and_still_connected", without(Rule::kEndsRefusedLink), kBoth);
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

// Of a million random schedules one showed it.
BOOST_AUTO_TEST_CASE(a_leader_that_does_not_say_that_it_may_lead_again_is_caught) {
  check_scenario("guard_lists_itself", without(Rule::kListItself), kBoth);
}

BOOST_AUTO_TEST_CASE(a_leader_that_does_not_say_that_its_policy_is_new_is_caught) {
  check_scenario("../bugs/leader_was_reconfigured_last", without(Rule::kTellNewPolicy), kBoth);
  check_scenario("../bugs/reconfigured_leader_suspects_the_highest", without(Rule::kTellNewPolicy),
                 kBoth);
}

BOOST_AUTO_TEST_CASE(a_lost_claim_that_is_made_again_and_again_is_caught) {
  check_scenario("../bugs/slow_disk_took_the_place_again_and_again", without(Rule::kLostClaimDamps),
                 kBoth);
}

BOOST_AUTO_TEST_CASE(a_slow_disk_that_keeps_all_from_leading_is_caught) {
  check_scenario("../bugs/disks_as_slow_as_the_lease", without(Rule::kGrantsAsOfTheLastBeat),
                 kBoth);
  check_scenario("../bugs/slow_disks_kept_a_healthy_member_out", without(Rule::kStaysOutForDisk),
                 kBoth);
  check_scenario("../bugs/stayed_out_for_one_that_cannot_lead", without(Rule::kStaysOutNoLonger),
                 kBoth);
  check_scenario("../bugs/stayed_out_for_one_that_stepped_down", without(Rule::kStaysOutNoLonger),
                 kBoth);
  check_scenario("../bugs/slow_disk_behind_a_partition", without(Rule::kStaysOutForDisk), kBoth);
  check_scenario("../bugs/slow_disk_thinks_it_is_alone", without(Rule::kStaysOutForDisk), kBoth);
}

BOOST_AUTO_TEST_CASE(a_score_that_is_not_told_on_a_new_link_is_caught) {
  check_scenario("../bugs/score_fell_while_a_link_came_up", without(Rule::kTellsWhatItsHelloDidNot),
                 kClassic);
}

BOOST_AUTO_TEST_CASE(a_take_over_that_is_tried_during_another_is_caught) {
  check_scenario("../bugs/question_for_the_place_was_lost", without(Rule::kAfterTheBid), kBoth);
}

BOOST_AUTO_TEST_CASE(a_take_over_that_is_forgotten_while_one_is_not_able_is_caught) {
  check_scenario("../bugs/late_disk_ended_the_retry", without(Rule::kRetriesWhenAble), kBoth);
}

BOOST_AUTO_TEST_CASE(a_called_election_that_a_leader_does_not_end_is_caught) {
  check_scenario("../bugs/called_election_lasted_as_long_as_the_drain",
                 without(Rule::kEndsCalledElection), kBoth);
  check_scenario("../bugs/called_election_during_a_transfer", without(Rule::kEndsCalledElection),
                 kBoth);
}

BOOST_AUTO_TEST_CASE(a_voter_that_grants_an_epoch_twice_is_caught) {
  check_scenario("guard_voted_twice", without(Rule::kVoteOnce), kBoth);
  check_search(without(Rule::kVoteOnce), "modified", Guarding::kMajority);
}

// Nobody can be configured so, and random schedules have no such lease.
BOOST_AUTO_TEST_CASE(a_vote_for_a_lease_that_is_too_short_is_caught) {
  check_scenario("guard_lease_too_short", without(Rule::kLawfulLease), kBoth);
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
