// What both variants of the bully plugin have in common: whom a process asks in a round, whose
// answers count, who takes part, and what ends an election.  The process under test is number 3 of
// 1..5 unless a case says otherwise; an ANSWER may take 100 ms, a COORDINATOR 350 ms.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "plugin_harness.hh"

namespace bellwether::tests {
namespace {

using Setup = PluginHarness::Setup;

constexpr uint64_t kNoDeadline = PluginHarness::kNoDeadline;
constexpr uint32_t kNobody = PluginHarness::kNobody;

// Runs `test` with a process of each variant.
void with_both(Setup setup, const std::function<void(PluginHarness&)>& test) {
  for (const char* variant : {"classic", "modified"}) {
    setup.variant = variant;
    PluginHarness process(setup);
    BOOST_TEST_CONTEXT(variant) { test(process); }
  }
}
void with_both(const std::function<void(PluginHarness&)>& test) { with_both({}, test); }

// Runs `test` in each state that waits for something.
void in_each_state(const std::function<void(PluginHarness&)>& test) {
  static const std::vector<std::pair<std::string, std::function<void(PluginHarness&)>>> kStates{
      {"collecting", [](PluginHarness&) {}},
      {"waiting",
       [](PluginHarness& process) {
         process.receive_answer(4);
         process.receive_answer(5);
       }},
      {"claiming", [](PluginHarness& process) { process.time_out(); }},
  };
  for (const auto& [name, enter] : kStates) {
    with_both([&, enter = enter](PluginHarness& process) {
      process.elect();
      enter(process);
      test(process);
    });
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(asking)

// --- whom a process asks ---

BOOST_AUTO_TEST_CASE(it_asks_every_higher_rank_and_nobody_else) {
  with_both([](PluginHarness& process) {
    BOOST_TEST(process.elect() == "collecting, ELECTION to 4, ELECTION to 5");
  });
}

BOOST_AUTO_TEST_CASE(it_waits_t_for_the_answers) {
  with_both([](PluginHarness& process) {
    process.elect();
    BOOST_TEST(process.wait_ms() == PluginHarness::kAnswerTimeoutMs);
  });
}

BOOST_AUTO_TEST_CASE(with_nobody_higher_it_claims_at_once) {
  with_both({.self = 5}, [](PluginHarness& process) {
    BOOST_TEST(process.elect() == "collecting, claiming, CLAIM");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

BOOST_AUTO_TEST_CASE(alone_in_its_group_it_claims_at_once) {
  with_both({.members = 1, .self = 1}, [](PluginHarness& process) {
    BOOST_TEST(process.elect() == "collecting, claiming, CLAIM");
  });
}

BOOST_AUTO_TEST_CASE(suspected_members_are_not_asked) {
  with_both([](PluginHarness& process) {
    process.mark_suspect(5);
    BOOST_TEST(process.elect() == "collecting, ELECTION to 4");
  });
}

BOOST_AUTO_TEST_CASE(when_all_higher_ranks_are_suspected_it_claims_at_once) {
  with_both([](PluginHarness& process) {
    process.mark_suspect(4);
    process.mark_suspect(5);
    BOOST_TEST(process.elect() == "collecting, claiming, CLAIM");
  });
}

BOOST_AUTO_TEST_CASE(with_ask_suspected_they_are_asked_but_not_awaited) {
  with_both({.ask_suspected = true}, [](PluginHarness& process) {
    process.mark_suspect(5);
    BOOST_TEST(process.elect() == "collecting, ELECTION to 4, ELECTION to 5");
    BOOST_TEST(process.receive_unelectable_answer(4) == "claiming, CLAIM silent 5");
  });
}

BOOST_AUTO_TEST_CASE(members_that_may_not_lead_are_asked_all_the_same) {
  // The host's mark may be old; their answer says how it is.
  with_both([](PluginHarness& process) {
    process.mark_not_electable(5);
    BOOST_TEST(process.elect() == "collecting, ELECTION to 4, ELECTION to 5");
  });
}

BOOST_AUTO_TEST_CASE(an_election_that_an_operator_wants_is_called) {
  with_both([](PluginHarness& process) {
    BOOST_TEST(process.elect(ELECTION_REASON_OPERATOR) ==
               "collecting, ELECTION to 4 called, ELECTION to 5 called");
  });
}

BOOST_AUTO_TEST_CASE(an_election_for_any_other_reason_is_not_called) {
  for (const uint32_t reason : {ELECTION_REASON_STARTED, ELECTION_REASON_RESIGNED,
                                ELECTION_REASON_OUTRANKS, ELECTION_REASON_RETRY}) {
    with_both([&](PluginHarness& process) {
      BOOST_TEST(process.elect(reason) == "collecting, ELECTION to 4, ELECTION to 5");
    });
  }
}

BOOST_AUTO_TEST_CASE(who_is_in_an_election_begins_no_other) {
  in_each_state([](PluginHarness& process) {
    BOOST_TEST(process.elect() == "");
    BOOST_TEST(process.elect(ELECTION_REASON_OPERATOR) == "");
  });
}

// --- the members change while it collects ---

BOOST_AUTO_TEST_CASE(when_all_it_waits_for_become_suspect_it_goes_on_at_once) {
  with_both([](PluginHarness& process) {
    process.elect();
    BOOST_TEST(process.suspect(5) == "");
    BOOST_TEST(process.suspect(4) == "claiming, CLAIM silent 4 5");
  });
}

BOOST_AUTO_TEST_CASE(who_leaves_is_not_waited_for_and_not_named) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.remove(5);
    BOOST_TEST(process.tell_members() == "");
    process.remove(4);
    BOOST_TEST(process.tell_members() == "claiming, CLAIM");
  });
}

BOOST_AUTO_TEST_CASE(a_newcomer_of_a_higher_rank_is_asked_in_the_same_round) {
  with_both([](PluginHarness& process) {
    process.elect();
    const uint64_t round = process.round();
    process.add(6);
    BOOST_TEST(process.tell_members() == "ELECTION to 6");
    BOOST_TEST(process.round() == round);
  });
}

BOOST_AUTO_TEST_CASE(a_newcomer_of_a_lower_rank_is_not_asked) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.add(0);
    BOOST_TEST(process.tell_members() == "");
  });
}

BOOST_AUTO_TEST_CASE(a_newcomer_does_not_prolong_the_wait_but_is_waited_for) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.pass_ms(60);
    process.add(6);
    process.tell_members();
    BOOST_TEST(process.wait_ms() == 40u);
    process.suspect(4);
    BOOST_TEST(process.suspect(5) == "");  // 6 may still answer
  });
}

BOOST_AUTO_TEST_CASE(who_returns_during_the_round_is_asked) {
  with_both([](PluginHarness& process) {
    process.mark_suspect(5);
    process.elect();
    process.mark_alive(5);
    BOOST_TEST(process.tell_members() == "ELECTION to 5");
  });
}

BOOST_AUTO_TEST_CASE(nobody_is_asked_twice_in_one_round) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.suspect(5);
    process.mark_alive(5);
    BOOST_TEST(process.tell_members() == "");
  });
}

// --- whose answers count ---

BOOST_AUTO_TEST_CASE(when_nobody_answers_in_time_it_claims_and_names_the_silent) {
  with_both([](PluginHarness& process) {
    process.elect();
    BOOST_TEST(process.time_out() == "claiming, CLAIM silent 4 5");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

BOOST_AUTO_TEST_CASE(an_answer_that_may_not_lead_counts_as_silence) {
  with_both([](PluginHarness& process) {
    process.elect();
    BOOST_TEST(process.receive_unelectable_answer(4) == "");
    BOOST_TEST(process.receive_unelectable_answer(5) == "claiming, CLAIM");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_to_another_round_is_ignored) {
  with_both([](PluginHarness& process) {
    process.elect();
    BOOST_TEST(process.receive_answer_to(process.round() - 1, 5) == "");
    BOOST_TEST(process.receive_answer_to(process.round() + 1, 5) == "");
    BOOST_TEST(process.time_out() == "claiming, CLAIM silent 4 5");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_of_somebody_not_asked_is_ignored) {
  with_both([](PluginHarness& process) {
    process.elect();
    BOOST_TEST(process.receive_answer(2) == "");
    BOOST_TEST(process.time_out() == "claiming, CLAIM silent 4 5");
  });
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_does_not_claim) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.mark_not_electable(3);
    BOOST_TEST(process.time_out() == "idle");
    BOOST_TEST(process.reason() == "may not lead itself");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

// --- who is asked ---

BOOST_AUTO_TEST_CASE(the_answer_echoes_the_round_of_the_question) {
  with_both([](PluginHarness& process) {
    process.receive_election(1, false, 4711);
    BOOST_TEST(process.answered_round() == 4711u);
  });
}

// Which is a lower one by its own list, and waits; it may lead, for all that is known here.
BOOST_AUTO_TEST_CASE(a_higher_rank_hears_that_this_one_does_not_lead) {
  with_both(
      [](PluginHarness& process) { BOOST_TEST(process.receive_election(4) == "ANSWER to 4 in"); });
}

BOOST_AUTO_TEST_CASE(who_is_in_an_election_answers_and_goes_on) {
  in_each_state([](PluginHarness& process) {
    const uint64_t wait_ms = process.wait_ms();
    BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable in");
    BOOST_TEST(process.wait_ms() == wait_ms);
  });
}

BOOST_AUTO_TEST_CASE(who_hears_a_leader_answers_without_taking_part) {
  with_both({.sticky = true}, [](PluginHarness& process) {
    process.know_leader(5);
    BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

BOOST_AUTO_TEST_CASE(the_leader_itself_never_takes_part) {
  for (const bool sticky : {true, false}) {
    with_both({.sticky = sticky}, [](PluginHarness& process) {
      process.know_leader(3);
      BOOST_TEST(process.receive_election(1) == "ANSWER to 1 electable");
    });
  }
}

// --- what ends an election ---

BOOST_AUTO_TEST_CASE(a_leader_ends_the_election_in_every_state) {
  in_each_state([](PluginHarness& process) {
    BOOST_TEST(process.tell_leader(5) == "idle");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

BOOST_AUTO_TEST_CASE(the_heartbeat_of_the_old_leader_ends_no_election_of_its_own) {
  in_each_state([](PluginHarness& process) {
    const uint64_t wait_ms = process.wait_ms();
    BOOST_TEST(process.tell_leader(5, ELECTION_REASON_HEARD) == "");
    BOOST_TEST(process.wait_ms() == wait_ms);
  });
}

BOOST_AUTO_TEST_CASE(an_effective_claim_ends_the_election) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.time_out();
    BOOST_TEST(process.tell_leader(3, ELECTION_REASON_CLAIMED) == "idle");
  });
}

BOOST_AUTO_TEST_CASE(a_refused_claim_ends_the_election) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.time_out();
    BOOST_TEST(process.tell_leader(kNobody, ELECTION_REASON_CLAIM_REFUSED) == "idle");
  });
}

BOOST_AUTO_TEST_CASE(the_loss_of_a_leader_ends_no_election_that_goes_on) {
  with_both([](PluginHarness& process) {
    BOOST_TEST(process.tell_leader(kNobody, ELECTION_REASON_LEADER_LOST) == "");
    process.elect();
    BOOST_TEST(process.tell_leader(kNobody, ELECTION_REASON_LEADER_LOST) == "");
    BOOST_TEST(process.wait_ms() == PluginHarness::kAnswerTimeoutMs);
  });
}

BOOST_AUTO_TEST_CASE(standing_down_ends_the_election_in_every_state) {
  in_each_state([](PluginHarness& process) {
    BOOST_TEST(process.stand_down() == "idle");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_after_the_end_changes_nothing) {
  with_both([](PluginHarness& process) {
    process.elect();
    process.stand_down();
    BOOST_TEST(process.receive_answer(5) == "");
    BOOST_TEST(process.wait_ms() == kNoDeadline);
  });
}

BOOST_AUTO_TEST_CASE(after_the_end_it_can_hold_another_election_in_a_new_round) {
  in_each_state([](PluginHarness& process) {
    const uint64_t round = process.round();
    process.tell_leader(5);
    process.know_leader(kNobody);
    BOOST_TEST(process.elect() == "collecting, ELECTION to 4, ELECTION to 5");
    BOOST_TEST(process.round() != round);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
