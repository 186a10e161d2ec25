// What the plugin says that an election costs is what it costs: in the virtual cluster, for every
// small group, whoever is gone and whoever begins; and the formulas are those of the literature.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <ostream>
#include <tuple>

#include "core/plugin_facts.hh"
#include "simulator/cluster.hh"

namespace bellwether::tests {
namespace {

using simulator::Cluster;
using simulator::ClusterOptions;
using simulator::Detection;
using simulator::MessageCounts;

// ELECTION, ANSWER, HANDOVER, COORDINATOR
using Counts = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>;

const auto kVariants = boost::unit_test::data::make({"classic", "modified"});

// Everybody is there.
ElectionCase group_of(uint32_t processes, uint32_t initiator = 0) {
  const election_member living{
      .id = {}, .priority = 100, .marks = ELECTION_MEMBER_ELECTABLE, .reserved = 0};
  return {.members = std::vector<election_member>(processes, living), .initiator = initiator};
}

bool is_gone(const ElectionCase& election, size_t member) {
  return (election.members[member].marks & ELECTION_MEMBER_SUSPECT) != 0;
}

ElectionCase with_gone(ElectionCase election, std::initializer_list<uint32_t> gone) {
  for (const uint32_t member : gone) election.members[member].marks |= ELECTION_MEMBER_SUSPECT;
  return election;
}

// The papers': the highest led and is dead, and counts as a process that is asked.
ElectionCase papers(uint32_t processes, uint32_t initiator = 0) {
  ElectionCase election = with_gone(group_of(processes, initiator), {processes - 1});
  election.lost = processes - 1;
  election.asks_suspected = true;
  return election;
}

Counts priced(const std::string& variant, const ElectionCase& election) {
  const auto cost = price_of(bellwether_election_plugin, variant, election);
  BOOST_REQUIRE(cost.has_value());
  BOOST_TEST(cost->private_messages == 0u);
  return {cost->election, cost->answer, cost->handover, cost->coordinator};
}

// --- the same election in the virtual cluster ---

// It ranks lowest and is never there, so nobody asks it and nobody tells it anything.  But the
// others have not met all members, so they go on looking for a leader and hold no election by
// themselves.
constexpr uint32_t kAbsentee = 0;

// The process that plays a member.
uint32_t process_of(size_t member) { return kAbsentee + 1 + static_cast<uint32_t>(member); }

// Only what makes the election another one is as in the case.  Whoever is asked takes part, so here
// nobody stays with a leader; one begins, so nobody takes turns with it.
ClusterOptions options_of(const std::string& variant, bool asks_suspected) {
  ClusterOptions options;
  options.plugin = &bellwether_election_plugin;
  options.detection = Detection::kScripted;
  options.node.variant = variant;
  options.node.sticky = false;
  options.node.stagger = false;
  options.node.preempt = Preempt::kOff;
  options.node.skip_suspected = !asks_suspected;
  options.node.join_timeout = std::chrono::hours(24);
  return options;
}

Counts counted(const std::string& variant, const ElectionCase& election, const Input& begin) {
  Cluster cluster(options_of(variant, election.asks_suspected));
  cluster.add(process_of(election.members.size()));
  for (size_t member = 0; member < election.members.size(); ++member) {
    if (!is_gone(election, member) || member == election.lost) cluster.start(process_of(member));
  }
  BOOST_REQUIRE(cluster.settle());

  const MessageCounts before = cluster.messages();
  const uint32_t initiator = process_of(election.initiator);
  if (election.lost != ELECTION_NOBODY) {
    cluster.kill(process_of(election.lost));
    cluster.detect(initiator, process_of(election.lost), true);
  }
  cluster.command(initiator, begin);
  BOOST_REQUIRE(cluster.settle());
  BOOST_REQUIRE(cluster.agreement().leader.has_value());
  const auto of = [&](FrameType type) {
    return cluster.messages()[static_cast<size_t>(type)] - before[static_cast<size_t>(type)];
  };
  return {of(FrameType::kElection), of(FrameType::kAnswer), of(FrameType::kHandover),
          of(FrameType::kCoordinator)};
}

std::string text(const Counts& counts) {
  const auto& [election, answer, handover, coordinator] = counts;
  return std::to_string(election) + " " + std::to_string(answer) + " " + std::to_string(handover) +
         " " + std::to_string(coordinator);
}

// However the election begins: when a process finds no leader, or when an operator calls for it.
void compare(const std::string& variant, const ElectionCase& election) {
  std::string who;
  for (size_t i = 0; i < election.members.size(); ++i) who += is_gone(election, i) ? '-' : '+';
  const std::string price = text(priced(variant, election));
  for (const Input& begin : {Input(Joined{}), Input(Elect{})}) {
    const std::string count = text(counted(variant, election, begin));
    BOOST_TEST(price == count, variant << ", members " << who << ", " << election.initiator
                                       << " begins, lost " << static_cast<int32_t>(election.lost)
                                       << ", asks suspected " << election.asks_suspected
                                       << ": priced " << price << ", counted " << count);
  }
}

// Whoever lives begins, whoever is gone is the lost one, or nobody.
void compare_all_with(const std::string& variant, ElectionCase election) {
  const auto members = static_cast<uint32_t>(election.members.size());
  for (election.initiator = 0; election.initiator < members; ++election.initiator) {
    if (is_gone(election, election.initiator)) continue;
    election.lost = ELECTION_NOBODY;
    compare(variant, election);
    for (election.lost = 0; election.lost < members; ++election.lost) {
      if (is_gone(election, election.lost)) compare(variant, election);
    }
  }
}

constexpr uint32_t kAllOfThem = 5;

}  // namespace

BOOST_AUTO_TEST_SUITE(election_price)

BOOST_DATA_TEST_CASE(every_election_of_a_small_group_costs_what_the_formula_says,
                     kVariants* boost::unit_test::data::make({false, true}), variant,
                     asks_suspected) {
  for (uint32_t size = 1; size <= kAllOfThem; ++size) {
    for (uint32_t living = 1; living < 1u << size; ++living) {
      ElectionCase election = group_of(size);
      election.asks_suspected = asks_suspected;
      for (uint32_t member = 0; member < size; ++member) {
        if ((living >> member & 1u) == 0) election = with_gone(std::move(election), {member});
      }
      compare_all_with(variant, election);
    }
  }
}

BOOST_DATA_TEST_CASE(elections_of_larger_groups_cost_what_the_formula_says, kVariants, variant) {
  for (const uint32_t size : {10u, 28u}) {
    compare(variant, papers(size));
    compare(variant, papers(size, size / 2));
    compare(variant, with_gone(papers(size, 3), {0, 4, 5, size - 2}));
    ElectionCase modern = with_gone(papers(size, 1), {2, size - 3});
    modern.asks_suspected = false;
    compare(variant, modern);
  }
}

BOOST_AUTO_TEST_CASE(in_the_worst_case_it_is_what_the_papers_say) {
  for (const uint64_t n : {3u, 4u, 28u, 1000u}) {
    BOOST_TEST_CONTEXT(n << " processes") {
      const ElectionCase worst = papers(static_cast<uint32_t>(n));
      BOOST_TEST(
          (priced("classic", worst) == Counts{n * (n - 1) / 2, (n - 1) * (n - 2) / 2, 0, n - 2}));
      BOOST_TEST((priced("modified", worst) == Counts{n - 1, n - 2, 1, n - 2}));
    }
  }
}

BOOST_DATA_TEST_CASE(the_next_in_line_notices_and_only_says_so, kVariants, variant) {
  ElectionCase best = papers(6, 4);
  BOOST_TEST((priced(variant, best) == Counts{1, 0, 0, 4}));
  best.asks_suspected = false;
  BOOST_TEST((priced(variant, best) == Counts{0, 0, 0, 4}));
}

BOOST_DATA_TEST_CASE(a_process_that_is_alone_needs_no_message, kVariants, variant) {
  BOOST_TEST((priced(variant, group_of(1)) == Counts{0, 0, 0, 0}));
}

BOOST_DATA_TEST_CASE(members_that_never_lead_rank_below_and_are_told_and_not_asked, kVariants,
                     variant) {
  ElectionCase election = group_of(4, 2);
  election.members[0].marks = 0;
  election.members[1].marks = 0;
  const Counts expected =
      variant == std::string("classic") ? Counts{1, 1, 0, 3} : Counts{1, 1, 1, 3};
  BOOST_TEST((priced(variant, election) == expected));
}

BOOST_DATA_TEST_CASE(while_somebody_above_may_not_lead_nobody_can_tell, kVariants, variant) {
  ElectionCase election = group_of(4, 1);
  election.members[3].marks = 0;
  BOOST_TEST(!price_of(bellwether_election_plugin, variant, election).has_value());
  election.members[3].marks = ELECTION_MEMBER_SUSPECT;
  BOOST_TEST(price_of(bellwether_election_plugin, variant, election).has_value());
  election.members[1].marks = 0;
  BOOST_TEST(!price_of(bellwether_election_plugin, variant, election).has_value());
}

BOOST_AUTO_TEST_CASE(a_variant_that_the_plugin_does_not_have_has_no_price) {
  BOOST_TEST(!price_of(bellwether_election_plugin, "other", group_of(3)).has_value());
}

BOOST_AUTO_TEST_CASE(a_plugin_without_the_extension_has_no_prices) {
  election_plugin silent = bellwether_election_plugin;
  silent.extension = [](const char*) -> const void* { return nullptr; };
  BOOST_TEST(has_prices(bellwether_election_plugin));
  BOOST_TEST(!has_prices(silent));
  BOOST_TEST(!price_of(silent, "classic", group_of(3)).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
