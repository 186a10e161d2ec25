// The rules by which leadership follows the application, and by which a reign ends: the checks of
// mutants_test.cc, for these.
#include <boost/test/unit_test.hpp>

#include "mutant_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(reign_mutants)

BOOST_AUTO_TEST_CASE(a_question_without_a_vote_is_caught) {
  check_scenario("../bugs/asked_and_lost_its_vote", without(Rule::kAsksWithAVote), kBoth);
}

BOOST_AUTO_TEST_CASE(a_claim_that_nobody_hears_of_is_caught) {
  const auto broken = without(Rule::kTellsUnkeptClaim);
  check_scenario("../bugs/claim_that_failed_was_told_to_nobody", broken, kBoth);
  check_scenario("../bugs/claim_that_hung_was_told_to_nobody", broken, kBoth);
}

BOOST_AUTO_TEST_CASE(a_drain_that_another_hand_over_ends_is_caught) {
  check_scenario("../bugs/drain_ended_by_an_earlier_hand_over", without(Rule::kDrainHasItsTimer),
                 kBoth);
}

BOOST_AUTO_TEST_CASE(an_operators_election_that_comes_to_nothing_is_caught) {
  check_scenario("../bugs/called_while_it_canvassed", without(Rule::kElectWeighsMore), kBoth);
  check_scenario("../bugs/called_while_it_asked", without(Rule::kElectWeighsMore), kBoth);
}

BOOST_AUTO_TEST_CASE(a_reload_that_begins_a_wait_anew_is_caught) {
  check_scenario("../bugs/reload_delayed_the_take_over", without(Rule::kReloadKeepsTheWait), kBoth);
}

BOOST_AUTO_TEST_CASE(a_hold_that_outlasts_a_later_one_is_caught) {
  check_scenario("../bugs/earlier_hold_outlasted_the_later", without(Rule::kLaterHoldCounts),
                 kBoth);
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

BOOST_AUTO_TEST_CASE(a_place_that_is_given_to_one_that_has_not_asked_is_caught) {
  check_scenario("../application/two_crash_loops_above_the_leader",
                 without(Rule::kAskersOfThisDrain), kBoth);
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

BOOST_AUTO_TEST_CASE(who_claims_when_it_was_asked_once_more_is_caught) {
  check_scenario("began_although_it_declined", without(Rule::kOutUntilTheLast), kClassic);
}

BOOST_AUTO_TEST_CASE(who_claims_beside_one_that_has_heard_that_it_cannot_lead_is_caught) {
  check_scenario("hold_ends_while_another_elects", without(Rule::kOutOfOthersElection), kBoth);
  check_first_broken("hold_ends_while_another_elects", without(Rule::kOutOfOthersElection),
                     "are on together");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
