// Giving leadership up under guard "majority": the leader leads on until its successor claims, so
// that there is hardly a moment without one.  And the higher voter that takes over.  5 of 1..5
// leads epoch 1.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

struct Leader : GuardHarness {
  explicit Leader(Options options = {}) : GuardHarness({.self = 5, .options = std::move(options)}) {
    lead();
  }

  // The claim of a successor that this leader has asked.
  Effects receive_planned_claim(uint32_t from) {
    return receive(from, 2, Coordinator{.is_planned = true, .sequence = 1, .terms = terms()}, 1);
  }
  // Time passes, and 1 and 2 go on to support it.
  Effects lead_for(Duration duration) {
    Effects all;
    for (Duration passed{}; passed < duration; passed += milliseconds(100)) {
      for (Effect& effect : run_for(milliseconds(100))) all.push_back(std::move(effect));
      for (const uint32_t voter : {1u, 2u}) receive_promise(voter);
    }
    return all;
  }
};

// Whom the leader asked to take over, in this order; without its beats.
std::string asked(const Effects& effects) {
  std::string numbers;
  for (const Effect& effect : effects) {
    const auto* send = std::get_if<Send>(&effect);
    const bool is_request =
        send != nullptr && std::holds_alternative<PlannedHandover>(send->frame.body);
    if (is_request) numbers += std::to_string(number_of(send->to));
  }
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_guard_departure)

// --- the leader ---

BOOST_AUTO_TEST_CASE(who_steps_down_asks_the_next_in_line_and_leads_on) {
  Leader node;
  const Effects effects = node.step(StepDown{});
  BOOST_TEST(everything(effects) == "done, HANDOVER to 4");
  BOOST_TEST(header_of_sent<PlannedHandover>(effects).released == 0u);
  BOOST_TEST(node.role() == "leads in 1");
}

// Then it leads on until its successor claims, and waits for nobody's work.
BOOST_AUTO_TEST_CASE(that_its_application_finishes_it_tells_the_voters_until_that_is_done) {
  Leader node({.drain_timeout = seconds(10)});
  node.step(Application{.is_attached = true});
  const auto says_so = [&node] {
    return find_sent<Heartbeat>(node.lead_for(milliseconds(100)))->is_draining;
  };
  node.step(StepDown{});
  BOOST_TEST(says_so());
  node.step(Drained{1});
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(!says_so());
  GuardHarness voter;
  voter.follow();
  voter.receive(5, 1, Heartbeat{.sequence = 9, .is_draining = true, .terms = voter.terms()});
  BOOST_TEST(voter.node().is_leader_draining());
}

BOOST_AUTO_TEST_CASE(while_it_hands_over_its_lease_is_renewed) {
  Leader node({.handover_timeout = seconds(5)});
  node.step(StepDown{});
  node.lead_for(seconds(4));
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(when_the_successor_claims_the_flag_goes_off_and_then_the_vote_is_given) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  BOOST_TEST(everything(node.receive_planned_claim(4)).starts_with("no leader, store 2"));
  BOOST_TEST(!node.node().is_handing_over());
  const Effects effects = node.disk_has_it();
  BOOST_TEST(sent(effects) == "GRANT to 4");
  BOOST_TEST(find_sent<Grant>(effects)->is_granted);
  BOOST_TEST(find_sent<Grant>(effects)->waits.empty());
  BOOST_TEST(header_of_sent<Grant>(effects).released == 2u);
}

// The successor is free to lead as soon as it hears from the leader before, whatever that is about.
BOOST_AUTO_TEST_CASE(when_its_vote_for_the_successor_is_stored_its_reign_is_released) {
  Leader node;
  node.step(StepDown{});
  node.receive_planned_claim(4);
  BOOST_TEST(node.node().hello().header.released >= 1u);
}

BOOST_AUTO_TEST_CASE(a_successor_that_does_not_claim_is_replaced_while_it_leads_on) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  BOOST_TEST(asked(node.lead_for(milliseconds(300))) == "3");
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(after_three_that_did_not_claim_the_flag_goes_off_before_it_resigns) {
  Leader node;
  std::string all = asked(node.step(StepDown{.hold = seconds(30)}));
  all += asked(node.lead_for(milliseconds(600)));
  BOOST_TEST(all == "432");
  const Effects effects = node.run_for(milliseconds(300));
  BOOST_TEST(asked(effects) == "");
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(header_of_sent<Resign>(effects).released == 1u);
}

// Who was told "stepped down" relies on the hold, whatever was under way.
BOOST_AUTO_TEST_CASE(a_step_down_during_a_transfer_holds_it_back_all_the_same) {
  Leader node;
  node.step(Transfer{uuid(4)});
  BOOST_TEST(everything(node.step(StepDown{.hold = seconds(600)})) == "done");
  node.lead_for(milliseconds(400));
  BOOST_TEST(!node.node().is_handing_over());
  BOOST_TEST(!node.node().is_leading());
  BOOST_TEST(node.node().timers().is_armed(Timer::kHold));
  BOOST_TEST(!node.node().may_lead());
}

BOOST_AUTO_TEST_CASE(of_two_step_downs_the_later_one_says_how_long_it_holds) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  BOOST_TEST(everything(node.step(StepDown{.hold = seconds(600)})) == "done");
  BOOST_TEST((node.node().timers().deadline(Timer::kHold) == node.now() + seconds(600)));
}

BOOST_AUTO_TEST_CASE(a_second_transfer_replaces_the_first) {
  Leader node;
  node.step(Transfer{uuid(4)});
  const Effects effects = node.step(Transfer{uuid(3)});
  BOOST_TEST(everything(effects) == "done, HANDOVER to 3");
  BOOST_TEST(find_sent<PlannedHandover>(effects)->is_appointed);
  BOOST_TEST(asked(node.lead_for(milliseconds(400))) == "");
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_transfer_during_a_step_down_names_its_successor) {
  Leader node;
  node.step(StepDown{.hold = seconds(30)});
  BOOST_TEST(everything(node.step(Transfer{uuid(2)})) == "done, HANDOVER to 2");
  BOOST_TEST(node.node().timers().is_armed(Timer::kHold));
}

BOOST_AUTO_TEST_CASE(a_transfer_that_is_refused_leaves_the_one_under_way_alone) {
  Leader node;
  node.step(Transfer{uuid(4)});
  BOOST_TEST(everything(node.step(Transfer{uuid(99)})) == "unknown member");
  BOOST_TEST(node.node().is_handing_over());
  BOOST_TEST(everything(node.receive_planned_claim(4)).starts_with("no leader, store 2"));
}

BOOST_AUTO_TEST_CASE(a_transfer_by_who_leaves_names_its_successor) {
  Leader node;
  node.step(LeaveGroup{});
  BOOST_TEST(everything(node.step(Transfer{uuid(2)})) == "done, HANDOVER to 2");
  const Effects effects = node.lead_for(milliseconds(400));
  BOOST_TEST(std::ranges::any_of(
      effects, [](const Effect& effect) { return std::holds_alternative<Left>(effect); }));
}

BOOST_AUTO_TEST_CASE(when_the_lease_ends_meanwhile_the_handover_ends_with_it) {
  Leader node({.handover_timeout = seconds(5)});
  node.step(StepDown{.hold = seconds(30)});
  const Effects effects = node.run_for(seconds(1));
  BOOST_TEST(find_sent<Resign>(effects).has_value());
  BOOST_TEST(!node.node().is_leading());
  BOOST_TEST(!node.node().is_handing_over());
}

BOOST_AUTO_TEST_CASE(a_transfer_asks_the_named_voter_and_leads_on) {
  Leader node;
  const Effects effects = node.step(Transfer{uuid(2)});
  BOOST_TEST(everything(effects) == "done, HANDOVER to 2");
  BOOST_TEST(find_sent<PlannedHandover>(effects)->is_appointed);
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(a_leader_that_leaves_goes_when_its_successor_has_claimed) {
  Leader node;
  BOOST_TEST(everything(node.step(LeaveGroup{})) == "HANDOVER to 4");
  BOOST_TEST(node.role() == "leads in 1");
  const Effects effects = node.receive_planned_claim(4);
  BOOST_TEST(everything(effects).ends_with("LEAVE to 4, left"));
  BOOST_TEST(header_of_sent<Leave>(effects).released >= 1u);
  BOOST_TEST(published(effects).starts_with("no leader"));
}

BOOST_AUTO_TEST_CASE(a_claimant_that_leaves_takes_its_claim_back) {
  GuardHarness node({.self = 5});
  node.claim();
  const Effects effects = node.step(LeaveGroup{});
  BOOST_TEST(find_sent<Leave>(effects).has_value());
  BOOST_TEST(header_of_sent<Leave>(effects).released == 1u);
  BOOST_TEST(node.node().has_left());
}

// --- the successor ---

BOOST_AUTO_TEST_CASE(who_is_asked_to_take_over_asks_nobody_and_stores_its_vote) {
  GuardHarness node;
  node.follow(5, 1);
  const Effects effects = node.receive(5, 1, PlannedHandover{}, 0);
  BOOST_TEST(everything(effects) == "no leader, store 2");
  const auto coordinator = find_sent<Coordinator>(node.disk_has_it());
  BOOST_REQUIRE(coordinator.has_value());
  BOOST_TEST(coordinator->is_planned);
  BOOST_TEST(!coordinator->is_appointed);
}

// The others' promises to it run on; its own word ends them.
BOOST_AUTO_TEST_CASE(it_leads_when_the_leader_before_has_granted_with_a_majority) {
  GuardHarness node;
  node.follow(5, 1);
  node.receive(5, 1, PlannedHandover{}, 0);
  node.disk_has_it();
  const std::vector<Wait> wait = {{.leader = uuid(5), .epoch = 1, .left = seconds(1)}};
  node.receive_grant(1, wait);
  node.receive_grant(2, wait);
  BOOST_TEST(node.role() == "claims 2");
  BOOST_TEST(published(node.receive_grant(5)) == "leads in 2");
}

BOOST_AUTO_TEST_CASE(only_the_leader_it_follows_can_ask_it_to_take_over) {
  GuardHarness node;
  node.follow(5, 1);
  BOOST_TEST(everything(node.receive(4, 1, PlannedHandover{}, 1)) == "");
  BOOST_TEST(node.role() == "follows 5 in 1");
}

BOOST_AUTO_TEST_CASE(a_learner_does_not_take_over) {
  GuardHarness node({}, 2);
  node.join();
  node.receive_beat(2, 1);
  BOOST_TEST(everything(node.receive(2, 1, PlannedHandover{}, 0)) == "WISH to 2");
}

// --- the higher voter ---

BOOST_AUTO_TEST_CASE(who_outranks_the_leader_takes_over_after_the_delay_and_asks_first) {
  GuardHarness node({.self = 5, .options = {.preempt_delay = milliseconds(400)}});
  node.follow(4, 1);
  BOOST_TEST(sent(node.run_for(milliseconds(399))) == "");
  BOOST_TEST(sent(node.run_for(milliseconds(1))) ==
             "CANVASS to 1, CANVASS to 2, CANVASS to 3, CANVASS to 4");
  BOOST_TEST(node.role() == "follows 4 in 1");
}

BOOST_AUTO_TEST_CASE(a_take_over_that_the_voters_do_not_want_leaves_everything_as_it_is) {
  GuardHarness node({.self = 5, .options = {.preempt_delay = milliseconds(400)}});
  node.follow(4, 1);
  node.run_for(milliseconds(400));
  for (const uint32_t voter : {1u, 2u, 3u}) node.receive_opinion(voter, false, 1);
  BOOST_TEST(node.role() == "follows 4 in 1");
  BOOST_TEST(node.max_epoch() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
