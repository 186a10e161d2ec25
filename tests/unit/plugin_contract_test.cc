// What the plugin interface asks of every plugin, asked of both variants: deadlines, what it does
// not know, what it cannot do, and that two lives do not mistake each other's rounds.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>

#include "plugin_harness.hh"

namespace bellwether::tests {
namespace {

constexpr const char* kBoth[] = {"classic", "modified"};

election_config config_of(const char* variant) {
  election_config config{};
  config.size = sizeof config;
  config.self = PluginHarness::id(1);
  config.variant = variant;
  return config;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plugin_contract)

BOOST_AUTO_TEST_CASE(the_plugin_describes_itself) {
  const election_plugin& plugin = PluginHarness::plugin();
  BOOST_TEST(plugin.abi_major == ELECTION_ABI_MAJOR);
  BOOST_TEST(plugin.abi_minor == ELECTION_ABI_MINOR);
  BOOST_TEST(plugin.size == sizeof(election_plugin));
  BOOST_TEST(plugin.reserved == 0u);
  BOOST_TEST(std::string(plugin.name) == "bully");
  BOOST_TEST(std::strlen(plugin.version) > 0);
  BOOST_TEST(std::string(plugin.variants[0]) == "classic");
  BOOST_TEST(std::string(plugin.variants[1]) == "modified");
  BOOST_TEST(plugin.variants[2] == nullptr);
}

BOOST_AUTO_TEST_CASE(it_makes_an_instance_of_each_variant_that_it_names) {
  for (const char* const* variant = PluginHarness::plugin().variants; *variant; ++variant) {
    BOOST_TEST(PluginHarness({.variant = *variant}).has_instance());
  }
}

BOOST_AUTO_TEST_CASE(it_makes_no_instance_of_an_unknown_variant) {
  BOOST_TEST(!PluginHarness({.variant = "classical"}).has_instance());
  BOOST_TEST(!PluginHarness({.variant = ""}).has_instance());
}

BOOST_AUTO_TEST_CASE(it_makes_no_instance_from_a_config_that_is_too_small) {
  election_config config = config_of("classic");
  config.size = sizeof config - 1;
  BOOST_TEST((PluginHarness::plugin().create(&config) == nullptr));
}

BOOST_AUTO_TEST_CASE(it_takes_the_larger_config_of_a_later_host) {
  election_config config = config_of("classic");
  config.size = sizeof config + 64;
  election_instance* instance = PluginHarness::plugin().create(&config);
  BOOST_TEST((instance != nullptr));
  PluginHarness::plugin().destroy(instance);
}

BOOST_AUTO_TEST_CASE(it_has_no_extensions) {
  BOOST_TEST((PluginHarness::plugin().extension("bellwether.snapshot/1") == nullptr));
}

BOOST_AUTO_TEST_CASE(a_new_instance_is_idle_and_wants_no_timeout) {
  for (const char* variant : kBoth) {
    PluginHarness process({.variant = variant});
    BOOST_TEST(process.tell_members() == "");
    BOOST_TEST(process.wait_ms() == PluginHarness::kNoDeadline);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_event_is_ignored) {
  for (const char* variant : kBoth) {
    PluginHarness process({.variant = variant});
    BOOST_TEST(process.event(99) == "");
    process.elect();
    BOOST_TEST(process.event(99) == "");
    BOOST_TEST(process.time_out() == "claiming, CLAIM silent 4 5");
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_kind_of_message_is_ignored) {
  for (const char* variant : kBoth) {
    PluginHarness process({.variant = variant});
    for (const uint32_t kind : {0u, 4u, 16u, 31u, UINT32_MAX}) {
      BOOST_TEST(process.message(1, kind, UINT32_MAX, 1) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(unknown_flags_of_a_message_are_ignored) {
  for (const char* variant : kBoth) {
    PluginHarness process({.variant = variant});
    process.know_leader(5);
    BOOST_TEST(process.message(1, ELECTION_MESSAGE_ELECTION, 0xff00, 1) == "ANSWER to 1 electable");
  }
}

BOOST_AUTO_TEST_CASE(every_step_states_the_deadline_anew) {
  for (const char* variant : kBoth) {
    PluginHarness process({.variant = variant});
    process.elect();
    for (const uint32_t event :
         {uint32_t{99}, uint32_t{ELECTION_EVENT_MEMBERS}, uint32_t{ELECTION_EVENT_ELECT}}) {
      process.event(event);
      BOOST_TEST(process.wait_ms() == PluginHarness::kAnswerTimeoutMs);
    }
    process.receive_election(1);
    BOOST_TEST(process.wait_ms() == PluginHarness::kAnswerTimeoutMs);
  }
}

BOOST_AUTO_TEST_CASE(a_timeout_that_nobody_wanted_changes_nothing) {
  for (const char* variant : kBoth) {
    PluginHarness process({.variant = variant});
    BOOST_TEST(process.time_out() == "");
  }
}

BOOST_AUTO_TEST_CASE(two_lives_with_other_first_rounds_share_no_round) {
  for (const char* variant : kBoth) {
    std::set<uint64_t> rounds;
    for (const uint64_t life : {7u, 8u}) {
      PluginHarness process({.variant = variant, .first_round = life << 32});
      for (int election = 0; election < 50; ++election) {
        process.elect();
        BOOST_TEST(rounds.insert(process.round()).second);
        process.stand_down();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_answer_to_an_earlier_life_is_not_taken_for_one_to_this) {
  for (const char* variant : kBoth) {
    PluginHarness before({.variant = variant, .first_round = uint64_t{7} << 32});
    PluginHarness after({.variant = variant, .first_round = uint64_t{8} << 32});
    before.elect();
    after.elect();
    after.receive_answer_to(before.round(), 4);
    after.receive_answer_to(before.round(), 5);
    BOOST_TEST(after.time_out() == "claiming, CLAIM silent 4 5");
  }
}

BOOST_AUTO_TEST_CASE(instances_know_nothing_of_each_other) {
  for (const char* variant : kBoth) {
    PluginHarness one({.variant = variant});
    PluginHarness other({.variant = variant});
    one.elect();
    BOOST_TEST(other.wait_ms() == PluginHarness::kNoDeadline);
    BOOST_TEST(other.elect() == "collecting, ELECTION to 4, ELECTION to 5");
  }
}

BOOST_AUTO_TEST_CASE(a_round_over_a_thousand_members_names_them_all) {
  PluginHarness process({.variant = "modified", .members = 1000, .self = 1});
  process.elect();
  std::string last;
  for (uint32_t number = 2; number <= 1000; ++number) last = process.receive_answer(number);
  BOOST_TEST(last.starts_with("waiting, HANDOVER to 1000 asked 2 3 4 "));
  BOOST_TEST(last.ends_with(" 998 999 1000"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
