// The modified variant (Soundarabai et al. 2014), rule by rule; what both variants share stands in
// asking_test.cc.  The process under test is number 3 of 1..5 unless a case says otherwise; an
// ANSWER may take 100 ms, a COORDINATOR 350 ms.
#include <boost/test/unit_test.hpp>

#include "plugin_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(modified)

namespace {

constexpr uint64_t kHaltTimeoutMs =
    PluginHarness::kAnswerTimeoutMs + PluginHarness::kCoordinatorTimeoutMs;

struct Modified : PluginHarness {
  explicit Modified(Setup setup = {}) : PluginHarness(with_variant(setup)) {}
  static Setup with_variant(Setup setup) {
    setup.variant = "modified";
    return setup;
  }
};

// Has asked 4 and 5, and waits for them.
struct Collecting : Modified {
  Collecting() { elect(); }
};

// 4 and 5 have answered; it has handed over to 5.
struct Waiting : Collecting {
  Waiting() {
    receive_answer(4);
    receive_answer(5);
  }
};

// Was asked by 1.
struct Halted : Modified {
  explicit Halted(Setup setup = {}) : Modified(setup) { receive_election(1); }
};

}  // namespace
// --- step 1: the initiator asks, and who is asked halts ---

BOOST_AUTO_TEST_CASE(who_is_asked_answers_and_halts) {
  Modified process;
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable in, halted");
  BOOST_TEST(process.wait_ms() == kHaltTimeoutMs);
}

BOOST_AUTO_TEST_CASE(even_the_highest_halts_when_it_is_asked) {
  Modified process({.self = 5});
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable in, halted");
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_says_so_and_halts) {
  Modified process;
  process.mark_not_electable(3);
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 in, halted");
}

BOOST_AUTO_TEST_CASE(the_halt_flag_keeps_it_from_starting_an_election) {
  Halted process;
  BOOST_TEST(process.elect() == "");
  BOOST_TEST(process.elect(ELECTION_REASON_OPERATOR) == "");
  BOOST_TEST(process.wait_ms() == kHaltTimeoutMs);
}

BOOST_AUTO_TEST_CASE(who_is_halted_answers_a_second_initiator_and_does_not_wait_longer) {
  Halted process;
  process.pass_ms(30);
  BOOST_TEST(process.receive_election(2) == "ANSWER to 2 electable in");
  BOOST_TEST(process.wait_ms() == kHaltTimeoutMs - 30);
}

BOOST_AUTO_TEST_CASE(who_hears_a_leader_does_not_halt) {
  Modified process({.sticky = true});
  process.know_leader(5);
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable");
}

BOOST_AUTO_TEST_CASE(without_sticky_it_halts_although_it_hears_a_leader) {
  Modified process({.sticky = false});
  process.know_leader(5);
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable in, halted");
}

BOOST_AUTO_TEST_CASE(everybody_halts_for_a_called_election) {
  for (const uint32_t leader : {3u, 5u}) {
    Modified process;
    process.know_leader(leader);
    BOOST_TEST(process.receive_election(1, true) == "ANSWER to 1 electable in, halted");
  }
}

// --- step 2: the initiator hands over to the highest that answered ---

BOOST_AUTO_TEST_CASE(it_waits_for_all_answers_before_it_hands_over) {
  Collecting process;
  BOOST_TEST(process.receive_answer(5) == "");
  BOOST_TEST(process.wait_ms() == PluginHarness::kAnswerTimeoutMs);
}

BOOST_AUTO_TEST_CASE(when_all_have_answered_it_hands_over_to_the_highest) {
  Collecting process;
  process.receive_answer(5);
  BOOST_TEST(process.receive_answer(4) == "waiting, HANDOVER to 5 asked 4 5");
  BOOST_TEST(process.wait_ms() == PluginHarness::kCoordinatorTimeoutMs);
}

BOOST_AUTO_TEST_CASE(when_t_is_over_it_hands_over_to_the_highest_that_answered) {
  Collecting process;
  process.receive_answer(4);
  BOOST_TEST(process.time_out() == "waiting, HANDOVER to 4 asked 4 5");
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_is_not_chosen) {
  Collecting process;
  process.receive_unelectable_answer(5);
  BOOST_TEST(process.receive_answer(4) == "waiting, HANDOVER to 4 asked 4 5");
}

BOOST_AUTO_TEST_CASE(who_answered_and_became_suspect_is_not_chosen) {
  Collecting process;
  process.receive_answer(5);
  process.suspect(5);
  BOOST_TEST(process.receive_answer(4) == "waiting, HANDOVER to 4 asked 4 5");
}

BOOST_AUTO_TEST_CASE(the_death_of_the_last_awaited_one_is_as_good_as_its_silence) {
  Collecting process;
  process.receive_answer(4);
  BOOST_TEST(process.suspect(5) == "waiting, HANDOVER to 4 asked 4 5");
}

BOOST_AUTO_TEST_CASE(a_newcomer_is_asked_and_can_be_chosen) {
  Collecting process;
  process.add(6);
  process.tell_members();
  process.receive_answer(4);
  process.receive_answer(5);
  BOOST_TEST(process.receive_answer(6) == "waiting, HANDOVER to 6 asked 4 5 6");
}

BOOST_AUTO_TEST_CASE(the_handover_of_a_called_election_says_so) {
  Modified process;
  process.elect(ELECTION_REASON_OPERATOR);
  process.receive_answer(4);
  BOOST_TEST(process.receive_answer(5) == "waiting, HANDOVER to 5 called asked 4 5");
}

BOOST_AUTO_TEST_CASE(the_handover_names_suspected_members_that_were_asked) {
  Modified process({.ask_suspected = true});
  process.mark_suspect(5);
  process.elect();
  BOOST_TEST(process.receive_answer(4) == "waiting, HANDOVER to 4 asked 4 5");
}

// --- step 3: the chosen one asks only those that were not asked ---

BOOST_AUTO_TEST_CASE(the_chosen_one_claims_at_once_when_all_higher_ranks_were_asked) {
  Halted process;
  BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) == "collecting, claiming, CLAIM silent 4 5");
}

BOOST_AUTO_TEST_CASE(the_highest_claims_at_once_and_names_nobody) {
  Halted process({.self = 5});
  BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) == "collecting, claiming, CLAIM");
}

BOOST_AUTO_TEST_CASE(a_higher_rank_that_may_not_lead_is_not_named_silent) {
  // It was not chosen because it may not lead; it may well have answered, and wants to be told.
  Halted process;
  process.mark_not_electable(5);
  BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) == "collecting, claiming, CLAIM silent 4");
}

BOOST_AUTO_TEST_CASE(a_handover_that_names_strangers_or_somebody_twice_is_understood) {
  Halted process;
  BOOST_TEST(process.receive_handover(1, {99, 5, 5, 4, 98, 4}) ==
             "collecting, claiming, CLAIM silent 4 5");
}

BOOST_AUTO_TEST_CASE(the_chosen_one_asks_the_higher_ranks_that_were_not_asked) {
  Halted process;
  BOOST_TEST(process.receive_handover(1, {2, 3, 4}) == "collecting, ELECTION to 5");
  BOOST_TEST(process.wait_ms() == PluginHarness::kAnswerTimeoutMs);
  BOOST_TEST(process.time_out() == "claiming, CLAIM silent 4 5");
}

BOOST_AUTO_TEST_CASE(the_chosen_one_does_not_ask_whom_it_suspects) {
  Halted process;
  process.mark_suspect(5);
  BOOST_TEST(process.receive_handover(1, {2, 3, 4}) == "collecting, claiming, CLAIM silent 4");
}

BOOST_AUTO_TEST_CASE(the_chosen_one_hands_over_to_a_higher_rank_that_answers) {
  Halted process;
  process.receive_handover(1, {2, 3, 4});
  BOOST_TEST(process.receive_answer(5) == "waiting, HANDOVER to 5 asked 2 3 4 5");
}

BOOST_AUTO_TEST_CASE(a_handover_reaches_who_is_idle_too) {
  Modified process;  // its ANSWER was sent by an earlier life
  BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) == "collecting, claiming, CLAIM silent 4 5");
}

BOOST_AUTO_TEST_CASE(a_handover_is_ignored_by_who_collects_waits_or_claims) {
  BOOST_TEST(Collecting().receive_handover(1, {2, 3}) == "");
  BOOST_TEST(Waiting().receive_handover(1, {2, 3}) == "");
  Collecting claiming;
  claiming.time_out();
  BOOST_TEST(claiming.receive_handover(1, {2, 3}) == "");
}

BOOST_AUTO_TEST_CASE(a_handover_is_ignored_by_who_follows_or_leads) {
  for (const uint32_t leader : {3u, 5u}) {
    Modified process;
    process.know_leader(leader);
    BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) == "");
  }
}

BOOST_AUTO_TEST_CASE(a_called_handover_is_passed_on_as_called) {
  Halted process;
  BOOST_TEST(process.receive_handover(1, {2, 3, 4}, true) == "collecting, ELECTION to 5 called");
}

BOOST_AUTO_TEST_CASE(a_second_handover_changes_nothing) {
  // Two initiators chose the same one.
  Halted process;
  process.receive_handover(1, {2, 3, 4});
  BOOST_TEST(process.receive_handover(2, {3, 4}) == "");
}

BOOST_AUTO_TEST_CASE(the_chosen_one_does_not_claim_when_it_may_not_lead) {
  Halted process;
  process.mark_not_electable(3);
  BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) == "collecting, idle");
}

// --- step 4, first half: the chosen one fails ---

BOOST_AUTO_TEST_CASE(when_no_coordinator_comes_the_next_highest_takes_over) {
  Waiting process;
  BOOST_TEST(process.time_out() == "waiting, HANDOVER to 4 asked 4 5");
  BOOST_TEST(process.wait_ms() == PluginHarness::kCoordinatorTimeoutMs);
}

BOOST_AUTO_TEST_CASE(when_the_chosen_one_becomes_suspect_the_next_takes_over_at_once) {
  Waiting process;
  BOOST_TEST(process.suspect(5) == "waiting, HANDOVER to 4 asked 4 5");
}

BOOST_AUTO_TEST_CASE(when_the_chosen_one_leaves_the_next_takes_over_at_once) {
  Waiting process;
  process.remove(5);
  BOOST_TEST(process.tell_members() == "waiting, HANDOVER to 4 asked 4 5");
}

BOOST_AUTO_TEST_CASE(the_death_of_another_is_no_reason_to_choose_anew) {
  Waiting process;
  BOOST_TEST(process.suspect(4) == "");
}

BOOST_AUTO_TEST_CASE(a_late_answer_makes_its_sender_a_candidate) {
  Collecting process;
  process.receive_answer(4);
  process.time_out();
  BOOST_TEST(process.receive_answer(5) == "");  // 4 has it now
  BOOST_TEST(process.time_out() == "waiting, HANDOVER to 5 asked 4 5");
}

BOOST_AUTO_TEST_CASE(when_all_that_answered_have_failed_a_new_round_begins) {
  Waiting process;
  const uint64_t first_round = process.round();
  process.time_out();
  BOOST_TEST(process.time_out() == "collecting, ELECTION to 4, ELECTION to 5");
  BOOST_TEST(process.round() != first_round);
}

BOOST_AUTO_TEST_CASE(a_new_round_after_a_called_one_is_called_too) {
  Modified process;
  process.elect(ELECTION_REASON_OPERATOR);
  process.receive_answer(5);
  process.time_out();
  BOOST_TEST(process.time_out() == "collecting, ELECTION to 4 called, ELECTION to 5 called");
}

// --- step 4, second half: the initiator fails ---

BOOST_AUTO_TEST_CASE(a_process_that_was_halted_starts_when_the_halt_timer_runs_out) {
  Halted process;
  BOOST_TEST(process.time_out() == "collecting, ELECTION to 4, ELECTION to 5");
}

BOOST_AUTO_TEST_CASE(a_process_that_was_halted_starts_when_its_initiator_dies) {
  Halted process({.self = 5});
  BOOST_TEST(process.suspect(1) == "collecting, claiming, CLAIM");
}

BOOST_AUTO_TEST_CASE(a_process_that_was_halted_starts_when_its_initiator_leaves) {
  Halted process({.self = 5});
  process.remove(1);
  BOOST_TEST(process.tell_members() == "collecting, claiming, CLAIM");
}

BOOST_AUTO_TEST_CASE(who_was_halted_by_a_called_election_calls_one_itself) {
  Modified process;
  process.know_leader(5);
  process.receive_election(1, true);
  BOOST_TEST(process.time_out() == "collecting, ELECTION to 4 called, ELECTION to 5 called");
}

BOOST_AUTO_TEST_CASE(after_the_initiators_death_each_lower_rank_waits_t_longer) {
  Halted second({.self = 4});
  BOOST_TEST(second.suspect(1) == "");
  BOOST_TEST(second.wait_ms() == PluginHarness::kAnswerTimeoutMs);
  Halted third({.self = 3});
  BOOST_TEST(third.suspect(1) == "");
  BOOST_TEST(third.wait_ms() == 2 * PluginHarness::kAnswerTimeoutMs);
}

BOOST_AUTO_TEST_CASE(dead_higher_ranks_do_not_count_in_that_wait) {
  Halted process;
  process.mark_suspect(4);
  process.mark_suspect(5);
  BOOST_TEST(process.suspect(1) == "collecting, claiming, CLAIM");
}

BOOST_AUTO_TEST_CASE(that_wait_is_at_most_the_time_of_a_coordinator) {
  Halted process({.members = 9, .self = 3});
  process.suspect(1);
  BOOST_TEST(process.wait_ms() == PluginHarness::kCoordinatorTimeoutMs);
}

BOOST_AUTO_TEST_CASE(that_wait_never_goes_beyond_the_halt_timer) {
  Halted process;
  process.pass_ms(kHaltTimeoutMs - 20);
  process.suspect(1);
  BOOST_TEST(process.wait_ms() == 20u);
}

BOOST_AUTO_TEST_CASE(the_death_of_another_does_not_end_the_halt) {
  Halted process;
  BOOST_TEST(process.suspect(2) == "");
  BOOST_TEST(process.suspect(5) == "");
  BOOST_TEST(process.wait_ms() == kHaltTimeoutMs);
}

BOOST_AUTO_TEST_CASE(a_leader_ends_the_halt) { BOOST_TEST(Halted().tell_leader(5) == "idle"); }

BOOST_AUTO_TEST_CASE(the_heartbeat_of_the_old_leader_ends_the_halt) {
  Halted process({.sticky = false});
  BOOST_TEST(process.tell_leader(5, ELECTION_REASON_HEARD) == "idle");
}

BOOST_AUTO_TEST_CASE(the_heartbeat_of_the_old_leader_does_not_end_the_halt_of_a_called_election) {
  Modified process;
  process.know_leader(5);
  process.receive_election(1, true);
  BOOST_TEST(process.tell_leader(5, ELECTION_REASON_HEARD) == "");
  BOOST_TEST(process.wait_ms() == kHaltTimeoutMs);
}

BOOST_AUTO_TEST_CASE(standing_down_ends_the_halt) { BOOST_TEST(Halted().stand_down() == "idle"); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
