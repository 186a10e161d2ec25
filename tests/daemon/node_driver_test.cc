// The driver carries out what a sound node wants, and nothing of a node that has gone wrong.
#include "daemon/node_driver.hh"

#include <boost/test/unit_test.hpp>

#include "loop_run.hh"
#include "rules.hh"

namespace bellwether::tests {

using namespace daemon;

namespace {

class Notes final : public EffectSink {
 public:
  void carry_out(Instant, const Effect& effect) override {
    ++carried_out;
    if (const auto* publish = std::get_if<Publish>(&effect)) is_leader = publish->is_leader;
  }
  void tell(const Effect&) override { ++told; }
  void on_broken(const std::string& broken, const SelfCheck& evidence) override {
    invariants.push_back(broken);
    after = evidence.state_after();
  }

  int carried_out = 0;
  int told = 0;
  bool is_leader = false;
  std::vector<std::string> invariants;
  std::string after;
};

// Alone in its group, it leads as soon as it has looked around.
struct NodeDriverFixture {
  void start() {
    driver.step(Start{});
    driver.step(Joined{});
  }

  io::Loop loop;
  Node node{
      bellwether_election_plugin, {}, {.name = "n1", .priority = 100, .boot = 1}, {.max_epoch = 4}};
  Notes notes;
  NodeDriver driver{loop, node, notes};
};

struct Broken : NodeDriverFixture {
  const Breaking claims_an_epoch_that_it_has_seen{Rule::kClaimRaisesEpoch};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_driver)

BOOST_FIXTURE_TEST_CASE(what_a_sound_node_wants_is_carried_out, NodeDriverFixture) {
  start();
  BOOST_TEST(run_until(loop, [&] { return notes.is_leader; }));
  BOOST_TEST(notes.carried_out == notes.told);
  BOOST_TEST(notes.invariants.empty());
}

BOOST_FIXTURE_TEST_CASE(nothing_of_the_step_that_breaks_an_invariant_is_carried_out, Broken) {
  start();
  const int before = notes.carried_out;
  BOOST_REQUIRE(run_until(loop, [&] { return !notes.invariants.empty(); }));
  BOOST_TEST(node.is_leading());
  BOOST_TEST(!notes.is_leader);
  BOOST_TEST(notes.carried_out == before);
  BOOST_TEST(notes.told == before);
  BOOST_TEST(notes.invariants.front() == "claimed an epoch that is not new");
  BOOST_TEST(notes.after == "leads in epoch 4, highest epoch 4");
}

BOOST_FIXTURE_TEST_CASE(a_broken_node_is_never_stepped_again, Broken) {
  start();
  BOOST_REQUIRE(run_until(loop, [&] { return !notes.invariants.empty(); }));
  const int before = notes.carried_out;
  driver.step(Tick{});
  BOOST_TEST((driver.command(Elect{}) == Outcome::Kind::kNotEligible));
  uv_run(loop.uv(), UV_RUN_DEFAULT);  // no timer is left that could keep it
  BOOST_TEST(notes.carried_out == before);
  BOOST_TEST(notes.invariants.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
