// The classic variant (Garcia-Molina 1982), rule by rule; what both variants share stands in
// asking_test.cc.  The process under test is number 3 of 1..5 unless a case says otherwise.
#include <boost/test/unit_test.hpp>

#include "plugin_harness.hh"

namespace bellwether::tests {
namespace {

struct Classic : PluginHarness {
  explicit Classic(Setup setup = {}) : PluginHarness(with_variant(setup)) {}
  static Setup with_variant(Setup setup) {
    setup.variant = "classic";
    return setup;
  }
};

// Has asked 4 and 5, and waits for them.
struct Collecting : Classic {
  Collecting() { elect(); }
};

// 5 has answered.
struct Waiting : Collecting {
  Waiting() { receive_answer(5); }
};

// Nobody answered.
struct Claiming : Collecting {
  Claiming() { time_out(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(classic)

// --- step 1: who misses the leader asks every higher rank ---

BOOST_AUTO_TEST_CASE(with_ask_suspected_they_are_asked_but_not_awaited) {
  Classic process({.ask_suspected = true});
  process.mark_suspect(5);
  BOOST_TEST(process.elect() == "collecting, ELECTION to 4, ELECTION to 5");
  BOOST_TEST(process.receive_unelectable_answer(4) == "claiming, CLAIM silent 5");
}

BOOST_AUTO_TEST_CASE(a_suspected_member_that_was_asked_and_answers_counts) {
  Classic process({.ask_suspected = true});
  process.mark_suspect(5);
  process.elect();
  BOOST_TEST(process.receive_answer(5) == "waiting");
}

BOOST_AUTO_TEST_CASE(who_is_in_an_election_does_not_begin_another) {
  for (const uint32_t reason : {ELECTION_REASON_LEADER_LOST, ELECTION_REASON_OPERATOR}) {
    BOOST_TEST(Collecting().elect(reason) == "");
    BOOST_TEST(Waiting().elect(reason) == "");
    BOOST_TEST(Claiming().elect(reason) == "");
  }
}

// --- step 2: nobody answers in time ---

BOOST_AUTO_TEST_CASE(an_unelectable_answer_counts_as_silence) {
  Collecting process;
  BOOST_TEST(process.receive_unelectable_answer(4) == "");
  BOOST_TEST(process.receive_unelectable_answer(5) == "claiming, CLAIM");
}

BOOST_AUTO_TEST_CASE(who_answered_is_not_named_silent_even_if_it_may_not_lead) {
  Collecting process;
  process.receive_unelectable_answer(5);
  BOOST_TEST(process.time_out() == "claiming, CLAIM silent 4");
}

// --- step 3: somebody answers ---

BOOST_AUTO_TEST_CASE(the_first_answer_ends_the_collecting) {
  Collecting process;
  BOOST_TEST(process.receive_answer(4) == "waiting");
  BOOST_TEST(process.wait_ms() == PluginHarness::kCoordinatorTimeoutMs);
}

BOOST_AUTO_TEST_CASE(further_answers_do_not_prolong_the_wait) {
  Waiting process;
  process.pass_ms(50);
  BOOST_TEST(process.receive_answer(4) == "");
  BOOST_TEST(process.wait_ms() == PluginHarness::kCoordinatorTimeoutMs - 50);
}

BOOST_AUTO_TEST_CASE(when_no_coordinator_comes_it_starts_again) {
  Waiting process;
  const uint64_t first_round = process.round();
  BOOST_TEST(process.time_out() == "collecting, ELECTION to 4, ELECTION to 5");
  BOOST_TEST(process.round() != first_round);
}

BOOST_AUTO_TEST_CASE(when_no_coordinator_comes_it_stays_with_the_leader_it_came_up_under) {
  Classic process({.sticky = false});
  process.know_leader(1);
  process.elect(ELECTION_REASON_STARTED);
  process.receive_answer(5);
  BOOST_TEST(process.time_out() == "idle");
  process.elect(ELECTION_REASON_OPERATOR);
  process.receive_answer(5);
  BOOST_TEST(process.time_out().starts_with("collecting, ELECTION to 4"));  // somebody called it
}

BOOST_AUTO_TEST_CASE(a_called_election_that_starts_again_is_still_called) {
  Classic process;
  process.elect(ELECTION_REASON_OPERATOR);
  process.receive_answer(5);
  BOOST_TEST(process.time_out() == "collecting, ELECTION to 4 called, ELECTION to 5 called");
}

BOOST_AUTO_TEST_CASE(an_answer_to_the_round_before_is_ignored_after_a_restart) {
  Waiting process;
  const uint64_t first_round = process.round();
  process.time_out();
  BOOST_TEST(process.receive_answer_to(first_round, 5) == "");
}

// --- step 4: who is asked answers, and holds an election itself ---

BOOST_AUTO_TEST_CASE(who_is_asked_answers_first_and_then_holds_an_election) {
  Classic process;
  BOOST_TEST(process.receive_election(1) ==
             "ANSWER to 1 electable in, collecting, ELECTION to 4, ELECTION to 5");
}

BOOST_AUTO_TEST_CASE(the_highest_answers_and_claims) {
  Classic process({.self = 5});
  BOOST_TEST(process.receive_election(1) ==
             "ANSWER to 1 electable in, collecting, claiming, CLAIM");
}

BOOST_AUTO_TEST_CASE(who_is_in_an_election_answers_only) {
  BOOST_TEST(Collecting().receive_election(1) == "ANSWER to 1 electable in");
  BOOST_TEST(Waiting().receive_election(1) == "ANSWER to 1 electable in");
  BOOST_TEST(Claiming().receive_election(1) == "ANSWER to 1 electable in");
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_says_so_and_holds_no_election) {
  Classic process;
  process.mark_not_electable(3);
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 in");
}

BOOST_AUTO_TEST_CASE(a_called_election_is_passed_on_as_called) {
  BOOST_TEST(Classic().receive_election(1, true) ==
             "ANSWER to 1 electable in, collecting, ELECTION to 4 called, ELECTION to 5 called");
}

// --- who takes part ---

BOOST_AUTO_TEST_CASE(who_hears_a_leader_answers_without_taking_part) {
  Classic process({.sticky = true});
  process.know_leader(5);
  BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable");
}

BOOST_AUTO_TEST_CASE(without_sticky_it_takes_part_although_it_hears_a_leader) {
  Classic process({.sticky = false});
  process.know_leader(5);
  BOOST_TEST(process.receive_election(1) ==
             "ANSWER to 1 electable in, collecting, ELECTION to 4, ELECTION to 5");
}

BOOST_AUTO_TEST_CASE(the_leader_itself_never_takes_part) {
  for (const bool sticky : {true, false}) {
    Classic process({.sticky = sticky});
    process.know_leader(3);
    BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable");
  }
}

BOOST_AUTO_TEST_CASE(everybody_takes_part_in_a_called_election) {
  for (const uint32_t leader : {3u, 5u}) {
    Classic process;
    process.know_leader(leader);
    BOOST_TEST(process.receive_election(1, true) ==
               "ANSWER to 1 electable in, collecting, ELECTION to 4 called, ELECTION to 5 called");
  }
}

// --- the members change ---

BOOST_AUTO_TEST_CASE(the_death_of_all_that_answered_starts_a_new_round_at_once) {
  Waiting process;
  BOOST_TEST(process.suspect(5) == "collecting, ELECTION to 4");
}

BOOST_AUTO_TEST_CASE(one_living_candidate_is_enough_to_go_on_waiting) {
  Waiting process;
  process.receive_answer(4);
  BOOST_TEST(process.suspect(5) == "");
  BOOST_TEST(process.suspect(4) == "collecting, claiming, CLAIM");
}

// --- in a group where others run the modified variant ---

BOOST_AUTO_TEST_CASE(a_handover_makes_it_hold_an_election) {
  Classic process;
  BOOST_TEST(process.receive_handover(1, {2, 3, 4, 5}) ==
             "collecting, ELECTION to 4, ELECTION to 5");
}

BOOST_AUTO_TEST_CASE(a_handover_is_ignored_by_who_hears_a_leader_or_is_in_an_election) {
  Classic process;
  process.know_leader(5);
  BOOST_TEST(process.receive_handover(1, {2, 3}) == "");
  BOOST_TEST(Collecting().receive_handover(1, {2, 3}) == "");
  BOOST_TEST(Waiting().receive_handover(1, {2, 3}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
