// When a node takes over from a working leader: only when it outranks it, the policy allows it, it
// is the highest that could, and the delay is over; and priority 0, which never leads.
#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

// The node follows 1, and nobody of higher rank is there.
struct Outranking : NodeHarness {
  explicit Outranking(const Options& options = {}, uint32_t priority = 100)
      : NodeHarness({.self = 5, .priority = priority, .options = options}) {
    follow(1, 1);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_preemption)

BOOST_AUTO_TEST_CASE(a_higher_rank_wants_the_place_at_once) {
  Outranking node;
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(a_lower_rank_never_takes_over) {
  NodeHarness node({.self = 3});
  node.follow(5, 1);
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(with_a_delay_it_wants_it_later) {
  Outranking node({.preempt_delay = milliseconds(400)});
  node.run_for(milliseconds(399));
  BOOST_TEST(node.role() == "follows 1 in 1");
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(switched_off_it_never_takes_over) {
  Outranking node({.preempt = Preempt::kOff});
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(by_priority_a_higher_id_alone_does_not_take_over) {
  Outranking node({.preempt = Preempt::kPriority});
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(by_priority_a_higher_priority_takes_over) {
  Outranking node({.preempt = Preempt::kPriority}, 101);
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(only_the_highest_candidate_takes_over) {
  NodeHarness node({.self = 4});
  node.follow(1, 1);
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(when_the_highest_candidate_dies_the_next_takes_over) {
  NodeHarness node({.self = 4});
  node.follow(1, 1);
  node.disconnect(5, LinkEvidence::kRefused);
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(when_the_highest_candidate_may_not_lead_the_next_takes_over) {
  NodeHarness node({.self = 4});
  node.join().connect_as_witness(5);
  node.receive(1, 1, Coordinator{});
  node.run_for(milliseconds(100));  // 5 is asked all the same
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(a_leader_that_an_operator_named_is_left_alone) {
  NodeHarness node({.self = 5});
  node.join().receive(1, 1, Coordinator{.is_appointed = true});
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(with_priority_0_nobody_is_outranked) {
  Outranking node({}, 0);
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(priority_0_does_not_lead_even_when_it_is_alone) {
  NodeHarness node({.priority = 0});
  node.step(Start{});
  node.step(Joined{});
  node.run_for(seconds(30));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(priority_0_answers_that_it_may_not_lead) {
  NodeHarness node({.priority = 0});
  node.step(Start{});
  Hello lower = NodeHarness::hello_of(1);
  lower.self.priority = 0;  // of equal priority the id decides
  node.connect(lower);
  const auto effects =
      node.receive(1, 0, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 1});
  BOOST_TEST((find_sent<ElectionFrame>(effects)->flags & ELECTION_FLAG_ELECTABLE) == 0u);
}

BOOST_AUTO_TEST_CASE(who_lost_leadership_twice_within_a_minute_waits_before_it_takes_over) {
  Outranking node;
  uint64_t epoch = 2;
  for (int loss = 0; loss < 2; ++loss) {
    node.run_for(Duration::zero());
    node.receive(1, epoch - 1, PlannedHandover{}, epoch - 1);
    BOOST_TEST(node.role() == "leads in " + std::to_string(epoch));
    node.receive(1, ++epoch, Coordinator{});
    ++epoch;
  }
  BOOST_TEST((node.wait_of(Timer::kPreempt) == seconds(1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
