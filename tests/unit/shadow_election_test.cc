// An election held again in the virtual cluster costs what the literature says, whoever is gone and
// whoever begins; and what cannot be held again is known beforehand.
#include "simulator/shadow_election.hh"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <tuple>

namespace bellwether::tests {
namespace {

using simulator::ElectionFacts;
using simulator::hold_shadow_election;
using simulator::kMaxShadowMembers;
using simulator::shadow_flaw_of;
using simulator::ShadowFlaw;

// ELECTION, ANSWER, HANDOVER, COORDINATOR
using Counts = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>;

Counts counts(const std::string& variant, const ElectionFacts& facts) {
  const auto held = hold_shadow_election(bellwether_election_plugin, variant, facts);
  BOOST_REQUIRE_MESSAGE(held, "it comes to a leader");
  const auto of = [&](FrameType type) { return (*held)[static_cast<size_t>(type)]; };
  return {of(FrameType::kElection), of(FrameType::kAnswer), of(FrameType::kHandover),
          of(FrameType::kCoordinator)};
}

// Everybody is there.
ElectionFacts group_of(uint32_t processes, uint32_t initiator = 0) {
  return {.members = std::vector<ElectionFacts::Member>(processes), .initiator = initiator};
}

// The papers': the highest led and is dead, and counts as a process that is asked.
ElectionFacts papers(uint32_t processes, uint32_t initiator = 0) {
  ElectionFacts facts = group_of(processes, initiator);
  facts.members.back().is_gone = true;
  facts.lost_leader = processes - 1;
  facts.asks_suspected = true;
  return facts;
}

ElectionFacts with_gone(ElectionFacts facts, std::initializer_list<uint32_t> gone) {
  for (const uint32_t member : gone) facts.members[member].is_gone = true;
  return facts;
}

const auto kVariants = boost::unit_test::data::make({"classic", "modified"});

}  // namespace

BOOST_AUTO_TEST_SUITE(shadow_election)

BOOST_AUTO_TEST_CASE(the_lowest_notices_and_it_costs_what_the_papers_say) {
  for (const uint64_t n : {4u, 6u, 10u}) {
    BOOST_TEST_CONTEXT(n << " processes") {
      const ElectionFacts facts = papers(static_cast<uint32_t>(n));
      const Counts classic{n * (n - 1) / 2, (n - 1) * (n - 2) / 2, 0, n - 2};
      const Counts modified{n - 1, n - 2, 1, n - 2};
      BOOST_TEST((counts("classic", facts) == classic));
      BOOST_TEST((counts("modified", facts) == modified));
    }
  }
}

BOOST_DATA_TEST_CASE(the_next_in_line_notices_and_only_says_so, kVariants, variant) {
  BOOST_TEST((counts(variant, papers(6, 4)) == Counts{1, 0, 0, 4}));
}

BOOST_DATA_TEST_CASE(who_knows_of_a_death_need_not_ask_the_dead, kVariants, variant) {
  ElectionFacts facts = papers(6, 4);
  facts.asks_suspected = false;
  BOOST_TEST((counts(variant, facts) == Counts{0, 0, 0, 4}));
}

// In the classic variant those that were asked ask as well, and do not know of it; in the modified
// one the chosen one does.
BOOST_AUTO_TEST_CASE(only_the_initiator_knows_that_the_leader_is_gone) {
  ElectionFacts facts = papers(6);
  facts.asks_suspected = false;
  BOOST_TEST((counts("classic", facts) == Counts{14, 10, 0, 4}));
  BOOST_TEST((counts("modified", facts) == Counts{5, 4, 1, 4}));
}

BOOST_AUTO_TEST_CASE(everybody_knows_of_those_that_were_gone_before) {
  const ElectionFacts facts = with_gone(group_of(6), {1, 4, 5});
  BOOST_TEST((counts("classic", facts) == Counts{3, 3, 0, 2}));
  BOOST_TEST((counts("modified", facts) == Counts{2, 2, 1, 2}));
}

BOOST_AUTO_TEST_CASE(the_dead_are_asked_by_all_where_that_is_the_rule) {
  ElectionFacts facts = with_gone(group_of(6), {1, 4, 5});
  facts.asks_suspected = true;
  // 0 asks five, 2 asks three, 3 asks two; those that are there answer.
  BOOST_TEST((counts("classic", facts) == Counts{10, 3, 0, 2}));
  BOOST_TEST((counts("modified", facts) == Counts{5, 2, 1, 2}));
}

BOOST_DATA_TEST_CASE(the_leader_need_not_have_been_the_highest, kVariants, variant) {
  ElectionFacts facts = with_gone(group_of(4, 3), {1});
  facts.lost_leader = 1;
  BOOST_TEST((counts(variant, facts) == Counts{0, 0, 0, 2}));
}

BOOST_DATA_TEST_CASE(nobody_need_be_gone, kVariants, variant) {
  BOOST_TEST((counts(variant, group_of(4, 3)) == Counts{0, 0, 0, 3}));
}

BOOST_DATA_TEST_CASE(who_is_alone_needs_no_message, kVariants, variant) {
  BOOST_TEST((counts(variant, group_of(1)) == Counts{0, 0, 0, 0}));
}

BOOST_DATA_TEST_CASE(those_that_never_lead_are_told_and_not_asked, kVariants, variant) {
  ElectionFacts facts = group_of(4, 2);
  facts.members[0].may_lead = false;
  facts.members[1].may_lead = false;
  const Counts expected =
      variant == std::string("classic") ? Counts{1, 1, 0, 3} : Counts{1, 1, 1, 3};
  BOOST_TEST((counts(variant, facts) == expected));
}

BOOST_AUTO_TEST_CASE(the_largest_group_comes_to_an_end) {
  const uint64_t n = kMaxShadowMembers;
  const Counts classic{n * (n - 1) / 2, (n - 1) * (n - 2) / 2, 0, n - 2};
  BOOST_TEST((counts("classic", papers(kMaxShadowMembers)) == classic));
}

BOOST_AUTO_TEST_CASE(a_larger_group_is_not_tried) {
  BOOST_TEST(!shadow_flaw_of(group_of(kMaxShadowMembers)).has_value());
  BOOST_TEST((shadow_flaw_of(group_of(kMaxShadowMembers + 1)) == ShadowFlaw::kTooLarge));
}

BOOST_AUTO_TEST_CASE(a_group_in_which_somebody_above_may_not_lead_for_a_while_is_not_tried) {
  ElectionFacts facts = group_of(4, 1);
  facts.members[3].may_lead = false;
  BOOST_TEST((shadow_flaw_of(facts) == ShadowFlaw::kHeld));
  facts.members[3].is_gone = true;
  BOOST_TEST(!shadow_flaw_of(facts).has_value());
  facts.members[0].may_lead = false;
  BOOST_TEST(!shadow_flaw_of(facts).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
