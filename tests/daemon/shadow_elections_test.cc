// An election is held again beside the event loop: the metrics get all variants or none, one at a
// time, and nobody waits for it at the end.
#include "daemon/shadow_elections.hh"

#include <boost/test/unit_test.hpp>
#include <optional>

#include "loop_run.hh"
#include "scrape.hh"

namespace bellwether::tests {
namespace {

metrics::Identity identity_with_both_variants() {
  metrics::Identity identity = sample_identity();
  identity.variants = {"classic", "modified"};
  return identity;
}

// The papers' worst case.
simulator::ElectionFacts papers(uint32_t processes) {
  simulator::ElectionFacts facts{
      .members = std::vector<simulator::ElectionFacts::Member>(processes),
      .lost_leader = processes - 1,
      .asks_suspected = true};
  facts.members.back().is_gone = true;
  return facts;
}

struct ShadowElectionsFixture {
  metrics::Metrics metrics{identity_with_both_variants()};
  Loop loop;
  std::optional<ShadowElections> shadows{std::in_place, loop, bellwether_election_plugin, metrics};

  double elections(const std::string& result) {
    return scrape(metrics).at("bellwether_shadow_elections_total{result=\"" + result + "\"}");
  }
  double messages(const std::string& type, const std::string& variant) {
    return scrape(metrics).at("bellwether_shadow_messages_total{type=\"" + type + "\",variant=\"" +
                              variant + "\"}");
  }
  double all_messages() {
    double sum = 0;
    for (const auto& [series, value] : scrape(metrics)) {
      if (series.starts_with("bellwether_shadow_messages_total")) sum += value;
    }
    return sum;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shadow_elections, ShadowElectionsFixture)

BOOST_AUTO_TEST_CASE(each_variants_messages_are_counted_by_type) {
  shadows->hold(papers(6));
  BOOST_REQUIRE(run_until(loop, [&] { return elections("counted") == 1; }));
  BOOST_TEST(messages("ELECTION", "classic") == 15);
  BOOST_TEST(messages("ANSWER", "classic") == 10);
  BOOST_TEST(messages("HANDOVER", "classic") == 0);
  BOOST_TEST(messages("COORDINATOR", "classic") == 4);
  BOOST_TEST(messages("ELECTION", "modified") == 5);
  BOOST_TEST(messages("ANSWER", "modified") == 4);
  BOOST_TEST(messages("HANDOVER", "modified") == 1);
  BOOST_TEST(messages("COORDINATOR", "modified") == 4);
}

BOOST_AUTO_TEST_CASE(nothing_is_held_before_the_loop_goes_on) {
  shadows->hold(papers(4));
  BOOST_TEST(all_messages() == 0);
  BOOST_TEST(run_until(loop, [&] { return all_messages() == 11 + 8; }));
}

BOOST_AUTO_TEST_CASE(one_is_held_at_a_time_and_the_others_are_skipped) {
  for (int i = 0; i < 3; ++i) shadows->hold(papers(4));
  BOOST_TEST(elections("busy") == 2);
  BOOST_REQUIRE(run_until(loop, [&] { return elections("counted") == 1; }));
  shadows->hold(papers(4));
  BOOST_TEST(run_until(loop, [&] { return elections("counted") == 2; }));
  BOOST_TEST(all_messages() == 2 * (11 + 8));
  BOOST_TEST(elections("busy") == 2);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_held_again_is_skipped_at_once) {
  shadows->hold(papers(simulator::kMaxShadowMembers + 1));
  BOOST_TEST(elections("too_large") == 1);
  simulator::ElectionFacts facts = papers(4);
  facts.members[2].may_lead = false;
  shadows->hold(facts);
  BOOST_TEST(elections("on_hold") == 1);
  uv_run(loop.uv(), UV_RUN_DEFAULT);
  BOOST_TEST(all_messages() == 0);
}

// A plugin whose variants never elect anybody.
BOOST_AUTO_TEST_CASE(an_election_without_a_leader_counts_for_no_variant) {
  static election_plugin idle = bellwether_election_plugin;
  idle.step = [](election_instance*, const election_event*, election_output* output) -> int32_t {
    output->deadline_ns = ELECTION_NO_DEADLINE;
    return 0;
  };
  ShadowElections failing(loop, idle, metrics);
  failing.hold(papers(4));
  BOOST_TEST(run_until(loop, [&] { return elections("failed") == 1; }));
  BOOST_TEST(all_messages() == 0);
}

BOOST_AUTO_TEST_CASE(it_may_go_while_an_election_is_held) {
  shadows->hold(papers(40));
  shadows.reset();
  uv_run(loop.uv(), UV_RUN_DEFAULT);
  BOOST_TEST(all_messages() == 0);
  BOOST_TEST(elections("counted") + elections("failed") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
