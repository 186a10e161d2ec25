// The elector: what it tells a plugin, and what it does not let a plugin do; each breach of the
// contract has its own message, for it is all that the author of a plugin sees.
#include "core/elector.hh"

#include <boost/test/unit_test.hpp>

#include "node_harness.hh"
#include "scripted_plugin.hh"

namespace bellwether::tests {
namespace {

// Three members, of which number 2 is this process; one event to a plugin with this script.
std::string flaw_of(Script script) {
  Members members(member_entry(2));
  members.put(member_entry(1), Instant{});
  members.put(member_entry(3), Instant{});
  set_script(std::move(script));
  Elector elector(scripted_plugin(), Options{}, uuid(2));
  const auto actions = elector.event({.members = members}, ELECTION_EVENT_ELECT);
  if (!elector.is_working()) BOOST_TEST(actions.empty());
  return elector.flaw();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elector)

// --- what the plugin is told ---

BOOST_AUTO_TEST_CASE(an_instance_is_made_with_the_options) {
  set_script([](const election_event&, ScriptedAnswer&) {});
  const Options options{.answer_timeout = milliseconds(7),
                        .coordinator_timeout = milliseconds(9),
                        .sticky = true,
                        .skip_suspected = false,
                        .seed = 5};
  const Elector elector(scripted_plugin(), options, uuid(3));
  BOOST_TEST(last_config().size == sizeof(election_config));
  BOOST_TEST(last_config().flags == (ELECTION_CONFIG_STICKY | ELECTION_CONFIG_ASK_SUSPECTED));
  BOOST_TEST((to_uuid(last_config().self) == uuid(3)));
  BOOST_TEST(last_config().answer_timeout_ns == 7'000'000u);
  BOOST_TEST(last_config().coordinator_timeout_ns == 9'000'000u);
  BOOST_TEST(last_config().first_round == uint64_t{5} << 32);
}

BOOST_AUTO_TEST_CASE(without_sticky_and_with_skip_no_flag_is_set) {
  set_script([](const election_event&, ScriptedAnswer&) {});
  const Elector elector(scripted_plugin(), {.sticky = false, .skip_suspected = true}, uuid(3));
  BOOST_TEST(last_config().flags == 0u);
}

BOOST_AUTO_TEST_CASE(an_event_carries_what_the_host_knows) {
  election_event seen{};
  Members members(member_entry(2));
  members.put(member_entry(3), Instant{});
  set_script([&](const election_event& event, ScriptedAnswer&) { seen = event; });
  Elector elector(scripted_plugin(), Options{}, uuid(2));
  elector.event({.now = Instant(seconds(3)), .members = members, .leader = 1},
                ELECTION_EVENT_LEADER, ELECTION_REASON_ANNOUNCED);
  BOOST_TEST(seen.type == uint32_t{ELECTION_EVENT_LEADER});
  BOOST_TEST(seen.reason == uint32_t{ELECTION_REASON_ANNOUNCED});
  BOOST_TEST(seen.now_ns == 3'000'000'000u);
  BOOST_TEST((seen.members == members.ranked().data()));
  BOOST_TEST(seen.member_count == 2u);
  BOOST_TEST(seen.self == 0u);
  BOOST_TEST(seen.leader == 1u);
  BOOST_TEST(seen.from == ELECTION_NOBODY);
  BOOST_TEST(seen.message.kind == 0u);
}

BOOST_AUTO_TEST_CASE(a_deadline_that_is_not_stated_again_is_gone) {
  Members members(member_entry(2));
  set_script([](const election_event& event, ScriptedAnswer& answer) {
    if (event.type == ELECTION_EVENT_ELECT) answer.deadline_ns = 500;
  });
  Elector elector(scripted_plugin(), Options{}, uuid(2));
  BOOST_TEST((elector.deadline() == kNever));
  elector.event({.members = members}, ELECTION_EVENT_ELECT);
  BOOST_TEST((elector.deadline() == Instant(Duration(500))));
  elector.event({.members = members}, ELECTION_EVENT_MEMBERS);
  BOOST_TEST((elector.deadline() == kNever));
}

BOOST_AUTO_TEST_CASE(a_deadline_beyond_all_time_never_comes) {
  Members members(member_entry(2));
  set_script([](const election_event&, ScriptedAnswer& answer) {
    answer.deadline_ns = uint64_t{1} << 63;
  });
  Elector elector(scripted_plugin(), Options{}, uuid(2));
  elector.event({.members = members}, ELECTION_EVENT_ELECT);
  BOOST_TEST((elector.deadline() == kNever));
}

BOOST_AUTO_TEST_CASE(the_instance_ends_with_the_elector) {
  const int before = living_instances();
  {
    set_script([](const election_event&, ScriptedAnswer&) {});
    const Elector elector(scripted_plugin(), Options{}, uuid(2));
    BOOST_TEST(living_instances() == before + 1);
  }
  BOOST_TEST(living_instances() == before);
}

// --- what a plugin may do ---

BOOST_AUTO_TEST_CASE(messages_states_and_one_claim_are_fine) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) {
               answer.send(0, ELECTION_MESSAGE_ELECTION);
               answer.send(2, ELECTION_MESSAGE_HANDOVER);
               answer.send(2, ELECTION_MESSAGE_FIRST_PRIVATE);
               answer.send(2, ELECTION_MESSAGE_LAST_PRIVATE);
               answer.add(ELECTION_ACTION_STATE).text = "because";
               answer.claim();
             }) == "");
}

BOOST_AUTO_TEST_CASE(as_many_ids_as_a_group_has_members_are_fine) {
  static const std::vector<election_id> kIds(ELECTION_MESSAGE_MAX_IDS);
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) { answer.claim(kIds); }) ==
             "");
}

BOOST_AUTO_TEST_CASE(a_positive_result_is_no_failure) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) { answer.result = 1; }) ==
             "");
}

// --- what a plugin may not do ---

BOOST_AUTO_TEST_CASE(it_makes_no_instance) {
  set_script(nullptr);
  const Elector elector(scripted_plugin(), {.variant = "modified"}, uuid(2));
  BOOST_TEST(!elector.is_working());
  BOOST_TEST(elector.flaw() == "plugin made no instance of variant modified");
}

BOOST_AUTO_TEST_CASE(it_fails_in_step) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) { answer.result = -3; }) ==
             "plugin failed in step with -3");
}

BOOST_AUTO_TEST_CASE(it_counts_actions_that_are_not_there) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) {
               answer.claim();
               answer.hides_actions = true;
             }) == "plugin counted actions that are not there");
}

BOOST_AUTO_TEST_CASE(it_claims_twice) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) {
               answer.claim();
               answer.claim();
             }) == "plugin claimed twice");
}

BOOST_AUTO_TEST_CASE(it_asks_for_an_unknown_action) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) { answer.add(4); }) ==
             "plugin asked for unknown action 4");
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) { answer.add(0); }) ==
             "plugin asked for unknown action 0");
}

BOOST_AUTO_TEST_CASE(it_sends_to_a_member_that_does_not_exist) {
  for (const uint32_t to : {3u, ELECTION_NOBODY}) {
    BOOST_TEST(flaw_of([to](const election_event&, ScriptedAnswer& answer) {
                 answer.send(to, ELECTION_MESSAGE_ELECTION);
               }) == "plugin sent to a member that does not exist");
  }
}

BOOST_AUTO_TEST_CASE(it_sends_to_its_own_process) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) {
               answer.send(1, ELECTION_MESSAGE_ELECTION);
             }) == "plugin sent to its own process");
}

BOOST_AUTO_TEST_CASE(it_sends_a_message_of_unknown_kind) {
  for (const uint32_t kind : {0u, 4u, 15u, 32u}) {
    BOOST_TEST(flaw_of([kind](const election_event&, ScriptedAnswer& answer) {
                 answer.send(0, kind);
               }) == "plugin sent a message of unknown kind");
  }
}

BOOST_AUTO_TEST_CASE(it_names_too_many_ids) {
  static const std::vector<election_id> kIds(ELECTION_MESSAGE_MAX_IDS + 1);
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) { answer.claim(kIds); }) ==
             "plugin named too many ids");
}

BOOST_AUTO_TEST_CASE(it_counts_ids_that_are_not_there) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) {
               answer.send(0, ELECTION_MESSAGE_HANDOVER).message.id_count = 1;
             }) == "plugin named no ids");
}

BOOST_AUTO_TEST_CASE(it_gives_no_text_for_a_state) {
  BOOST_TEST(flaw_of([](const election_event&, ScriptedAnswer& answer) {
               answer.add(ELECTION_ACTION_STATE);
             }) == "plugin gave no text for a state");
}

BOOST_AUTO_TEST_CASE(one_flaw_spoils_the_whole_step_and_all_that_follow) {
  Members members(member_entry(2));
  int steps = 0;
  set_script([&](const election_event&, ScriptedAnswer& answer) {
    answer.claim();
    if (++steps == 1) answer.add(99);
  });
  Elector elector(scripted_plugin(), Options{}, uuid(2));
  BOOST_TEST(elector.event({.members = members}, ELECTION_EVENT_ELECT).empty());
  BOOST_TEST(elector.event({.members = members}, ELECTION_EVENT_ELECT).empty());
  BOOST_TEST(steps == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
