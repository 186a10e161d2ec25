// What one election may cost: the bounds are the closed forms, and one message more is too many.
#include "simulator/election_cost.hh"

#include <boost/test/unit_test.hpp>

#include "simulator/scenario.hh"

namespace bellwether::simulator {
namespace {

ElectionBounds bounds_of(const std::string& variant, uint32_t voters = 0) {
  return ElectionBounds::of(bellwether_election_plugin, variant, 7, voters).value();
}

uint64_t most(const ElectionBounds& bounds, FrameType type) {
  return bounds.messages(type).value_or(UINT64_MAX);
}

MessageCounts everything_allowed(const ElectionBounds& bounds) {
  MessageCounts counts{};
  for (size_t i = 0; i < kFrameTypes; ++i) {
    counts[i] = bounds.messages(static_cast<FrameType>(i)).value_or(1000);
  }
  return counts;
}

// The real plugin, but everything that it says to others it says twice.
struct Stammering {
  std::vector<election_action> actions;
  election_instance* real = nullptr;
};

Stammering& stammering(election_instance* handle) { return *reinterpret_cast<Stammering*>(handle); }

election_plugin stammering_plugin() {
  election_plugin plugin = bellwether_election_plugin;
  plugin.name = "stammering";
  plugin.create = [](const election_config* config) {
    auto* made = new Stammering{.actions = {}, .real = bellwether_election_plugin.create(config)};
    return reinterpret_cast<election_instance*>(made);
  };
  plugin.destroy = [](election_instance* handle) {
    bellwether_election_plugin.destroy(stammering(handle).real);
    delete &stammering(handle);
  };
  plugin.step = [](election_instance* handle, const election_event* event,
                   election_output* output) {
    Stammering& self = stammering(handle);
    const int32_t result = bellwether_election_plugin.step(self.real, event, output);
    self.actions.clear();
    for (uint32_t i = 0; i < output->action_count; ++i) {
      self.actions.push_back(output->actions[i]);
      if (output->actions[i].type == ELECTION_ACTION_SEND) {
        self.actions.push_back(output->actions[i]);
      }
    }
    output->actions = self.actions.data();
    output->action_count = static_cast<uint32_t>(self.actions.size());
    return result;
  };
  return plugin;
}

// Node 1 of five begins; `expectation` is what must come of it.
std::string failure_of(const election_plugin& plugin, const std::string& variant,
                       const std::string& group, const std::string& expectation) {
  const std::string text = "nodes 1..5 " + group +
                           "\nstart 1..5\nsettle\nexpect agreement\nmark\nelect 1\nwait 2s\n"
                           "expect " +
                           expectation + "\n";
  return run_scenario(parse_scenario("cost", text), {.plugin = &plugin, .variant = variant})
      .failure;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(election_cost)

BOOST_AUTO_TEST_CASE(classic_asks_with_the_square_of_the_members) {
  const ElectionBounds bounds = bounds_of("classic");
  BOOST_TEST(most(bounds, FrameType::kElection) == 21u);
  BOOST_TEST(most(bounds, FrameType::kAnswer) == 21u);
  BOOST_TEST(most(bounds, FrameType::kHandover) == 1u);
  BOOST_TEST(most(bounds, FrameType::kCoordinator) == 36u);
  BOOST_TEST(bounds.claims() == 6u);
}

BOOST_AUTO_TEST_CASE(modified_asks_once_and_hands_over_once) {
  const ElectionBounds bounds = bounds_of("modified");
  BOOST_TEST(most(bounds, FrameType::kElection) == 6u);
  BOOST_TEST(most(bounds, FrameType::kAnswer) == 6u);
  BOOST_TEST(most(bounds, FrameType::kHandover) == 2u);
  BOOST_TEST(most(bounds, FrameType::kCoordinator) == 6u);
  BOOST_TEST(bounds.claims() == 1u);
}

BOOST_AUTO_TEST_CASE(the_guard_adds_what_voters_say_to_each_other) {
  const ElectionBounds bounds = bounds_of("modified", 5);
  BOOST_TEST(most(bounds, FrameType::kCanvass) == 5u);
  BOOST_TEST(most(bounds, FrameType::kCanvassReply) == 9u);
  BOOST_TEST(most(bounds, FrameType::kGrant) == 8u);
  BOOST_TEST(most(bounds_of("modified"), FrameType::kGrant) == 0u);
}

BOOST_AUTO_TEST_CASE(heartbeats_have_no_bound) {
  BOOST_TEST(!bounds_of("modified").messages(FrameType::kHeartbeat).has_value());
}

BOOST_AUTO_TEST_CASE(one_message_more_is_too_many) {
  const ElectionBounds bounds = bounds_of("modified", 5);
  MessageCounts sent = everything_allowed(bounds);
  BOOST_TEST(!bounds.broken_by(sent).has_value());
  ++sent[static_cast<size_t>(FrameType::kHandover)];
  BOOST_TEST(bounds.broken_by(sent).value_or("") == "3 HANDOVER where 2 are enough");
}

BOOST_AUTO_TEST_CASE(an_election_costs_no_more_than_it_must) {
  for (const char* variant : {"classic", "modified"}) {
    for (const char* group : {"", "guard=majority"}) {
      BOOST_TEST(failure_of(bellwether_election_plugin, variant, group,
                            "messages ELECTION classic=10 modified=4") == "");
      BOOST_TEST(failure_of(bellwether_election_plugin, variant, group, "bounded cost") == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_election_of_those_who_say_all_twice_is_caught) {
  const election_plugin plugin = stammering_plugin();
  for (const char* variant : {"classic", "modified"}) {
    for (const char* group : {"", "guard=majority"}) {
      const std::string failure = failure_of(plugin, variant, group, "bounded cost");
      BOOST_TEST(failure.find("cost no more than it must") != std::string::npos, failure);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::simulator
