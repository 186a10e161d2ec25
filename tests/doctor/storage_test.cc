// The checks of the state folder and of the flag.
#include <boost/algorithm/string.hpp>

#include "expectations.hh"
#include "io/state/state_files.hh"

namespace bellwether::doctor {
namespace {

BOOST_FIXTURE_TEST_SUITE(state, HealthyGroup)

BOOST_AUTO_TEST_CASE(that_is_used_tells_id_epoch_and_process) {
  expect_one(healthy_facts(), "state",
             "ok: /state: id 00000000-0000-0000-0000-000000000000, epoch 7, in use by process 12, "
             "1 GiB free");
}

BOOST_AUTO_TEST_CASE(that_is_not_kept_is_well) {
  facts.state.reset();
  expect_one(facts, "state", "ok: nothing is kept");
}

BOOST_AUTO_TEST_CASE(that_can_be_made_is_well) {
  facts = facts_without_sidecar();
  facts.state = StateFacts{.folder = "/state", .is_writable = true, .free_bytes = 1u << 30};
  expect_one(facts, "state", "ok: /state can be made, 1 GiB free");
}

BOOST_AUTO_TEST_CASE(that_cannot_be_looked_at_is_a_problem) {
  facts.state->flaw = "Permission denied";
  expect_one(facts, "state", "problem: /state: Permission denied ->");
}

BOOST_AUTO_TEST_CASE(that_cannot_be_written_is_a_problem) {
  facts = facts_without_sidecar();
  facts.state->is_writable = false;
  facts.state->owner = 7;
  expect_one(facts, "state",
             "problem: /state cannot be written by this user; it belongs to user 7 ->");
}

// Nothing is to be changed for the sake of somebody who looks on.
BOOST_AUTO_TEST_CASE(of_another_users_sidecar_is_left_to_that_user) {
  facts.state = StateFacts{.folder = "/state", .exists = true, .owner = 7};
  expect_one(facts, "state",
             "skipped: /state is in use by the sidecar, and this user may not write to it: run the "
             "doctor as user 7\n");
  facts.state->exists = false;
  expect_one(facts, "state",
             "skipped: /state is in use by the sidecar, and this user may not write to it: run the "
             "doctor as the sidecar's user\n");
}

BOOST_AUTO_TEST_CASE(that_cannot_be_made_is_a_problem) {
  facts = facts_without_sidecar();
  facts.state = StateFacts{.folder = "/state", .free_bytes = 1u << 30};
  expect_one(facts, "state", "problem: /state does not exist and cannot be made by this user ->");
}

BOOST_AUTO_TEST_CASE(that_somebody_else_may_write_is_a_warning) {
  facts.state->weakness = "can be written by everybody";
  expect_one(facts, "state", "warning: /state can be written by everybody: who can put an older");
}

BOOST_AUTO_TEST_CASE(on_a_full_disk_is_a_problem) {
  facts.state->free_bytes = 4096;
  expect_one(facts, "state", "problem: only 4 KiB are free for /state ->");
}

BOOST_AUTO_TEST_CASE(on_a_disk_that_is_nearly_full_is_a_warning) {
  facts.state->free_bytes = 3u << 20;
  expect_one(facts, "state", "warning: only 3 MiB are free for /state ->");
}

BOOST_AUTO_TEST_CASE(in_memory_is_a_warning_for_voters_only) {
  facts.state->is_in_memory = true;
  expect_one(facts, "state", "ok: ");
  facts.config.config->voters = {{"orders-0", {"10.0.0.1", 7946}}};
  expect_one(facts, "state", "warning: /state is in memory");
}

BOOST_AUTO_TEST_CASE(of_another_group_is_a_problem) {
  facts.state->group = "payments";
  expect_one(facts, "state", "problem: /state belongs to group payments, not orders ->");
}

BOOST_AUTO_TEST_CASE(of_other_voters_is_a_problem_before_the_start) {
  facts.config.config->voters = {{"orders-0", {}}, {"orders-1", {}}, {"orders-2", {}}};
  facts.sidecar->silence = "no sidecar answers";
  facts.state->lock = {};
  facts.state->voters = io::vote_tag(facts.config.config->node.name, facts.config.config->voters);
  BOOST_TEST(findings(facts, "state").find("problem") == std::string::npos);
  facts.config.config->voters.erase("orders-2");
  expect_one(facts, "state",
             "problem: /state was written under another name, among other [voters]");
  facts.state->voters = io::kVotesForgotten;
  BOOST_TEST(findings(facts, "state").find("problem") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_is_damaged_is_a_problem) {
  facts.state->is_record_good = false;
  expect_one(facts, "state",
             "problem: /state/state is damaged, or of a later release -> do not restore a copy: "
             "empty the folder");
}

BOOST_AUTO_TEST_CASE(that_lacks_its_record_is_a_problem_unless_somebody_uses_it) {
  facts.state->has_record = false;
  expect_one(facts, "state",
             "warning: /state/state is missing beside identity: the sidecar that uses the folder");
  facts.state->lock = {};  // the sidecar that answers has another folder
  BOOST_TEST(findings(facts, "state")
                 .find("problem: /state/state is missing beside identity: what this process has "
                       "promised is lost -> do not restore a copy: empty") != std::string::npos);
}

// Whatever is wrong with the folder, a copy of an earlier one makes it worse.
BOOST_AUTO_TEST_CASE(is_never_to_be_restored) {
  const StateFacts healthy = *facts.state;
  const auto expect_no_such_advice = [&](const auto& spoil) {
    facts.state = healthy;
    spoil(*facts.state);
    std::string text = findings(facts, "state");
    BOOST_TEST(!text.starts_with("ok"), text);
    boost::algorithm::erase_all(text, "do not restore");
    for (const char* word : {"restore", "put back", "backup", "--forget"}) {
      BOOST_TEST(text.find(word) == std::string::npos, text);
    }
  };
  expect_no_such_advice([](StateFacts& state) { state.has_record = false; });
  expect_no_such_advice([](StateFacts& state) { state.is_record_good = false; });
  expect_no_such_advice([](StateFacts& state) { state.group = "payments"; });
  expect_no_such_advice([](StateFacts& state) { state.flaw = "Input/output error"; });
  expect_no_such_advice([](StateFacts& state) { state.weakness = "can be written by everybody"; });
  expect_no_such_advice([](StateFacts& state) { state.free_bytes = 0; });
}

BOOST_AUTO_TEST_CASE(that_a_silent_process_uses_is_a_warning) {
  facts = facts_without_sidecar();
  facts.state->lock = {.is_held = true, .holder = 12};
  expect_one(facts, "state", "warning: /state is used by process 12, but no sidecar answers ->");
}

BOOST_AUTO_TEST_CASE(that_the_running_sidecar_does_not_use_is_a_warning) {
  facts.state->lock = {};
  expect_one(facts, "state", "warning: a sidecar answers, but nobody uses /state ->");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(flag, HealthyGroup)

BOOST_AUTO_TEST_CASE(that_is_used_tells_mode_and_process) {
  expect_one(healthy_facts(), "flag",
             "ok: /flags/orders, mode 0640, on a tmpfs, in use by process 12");
}

BOOST_AUTO_TEST_CASE(that_can_be_made_is_well) {
  facts = facts_without_sidecar();
  facts.flag->exists = false;
  expect_one(facts, "flag", "ok: /flags/orders can be made, on a tmpfs");
}

BOOST_AUTO_TEST_CASE(that_cannot_be_made_is_a_problem) {
  facts = facts_without_sidecar();
  facts.flag->exists = false;
  facts.flag->folder_flaw = "it cannot be made: Permission denied";
  expect_one(facts, "flag", "problem: /flags/orders: it cannot be made: Permission denied ->");
}

BOOST_AUTO_TEST_CASE(that_is_gone_while_a_sidecar_answers_is_a_problem) {
  facts.flag->exists = false;
  facts.flag->lock = {};
  expect_one(facts, "flag", "problem: /flags/orders does not exist, but a sidecar answers ->");
}

BOOST_AUTO_TEST_CASE(in_a_folder_of_others_is_a_problem) {
  facts.flag->distrust = "its folder can be written by others (mode 0777)";
  expect_one(facts, "flag", "problem: /flags/orders: its folder can be written by others");
}

BOOST_AUTO_TEST_CASE(that_logind_removes_is_worth_a_warning) {
  facts.flag->owner = 1000;
  facts.flag->is_emptied_at_logout = true;
  expect_one(facts, "flag",
             "warning: at the last logout of user 1000, systemd-logind removes /flags/orders ->");
}

BOOST_AUTO_TEST_CASE(that_is_no_flag_is_a_problem) {
  facts.flag->file_flaw = "is a symbolic link";
  expect_one(facts, "flag", "problem: /flags/orders is a symbolic link ->");
}

// Whoever looks on, as another user, is not told to remove a flag that is in use.
BOOST_AUTO_TEST_CASE(of_another_users_sidecar_is_left_to_that_user) {
  facts.flag->denial = "belongs to user 7, this process to user 1000";
  facts.flag->lock = {};  // it could not be opened
  facts.flag->owner = 7;
  expect_one(facts, "flag",
             "skipped: /flags/orders belongs to user 7, this process to user 1000: run the doctor "
             "as user 7\n");
  facts.flag->exists = false;
  expect_one(facts, "flag",
             "skipped: /flags/orders belongs to user 7, this process to user 1000: "
             "run the doctor as the sidecar's user\n");
  const Facts asleep = [&] {
    Facts without = facts_without_sidecar();
    without.flag = facts.flag;
    without.flag->exists = true;
    return without;
  }();
  expect_one(asleep, "flag",
             "problem: /flags/orders belongs to user 7, this process to user 1000 ->");
  BOOST_TEST(findings(asleep, "flag").find("remove") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(on_a_disk_is_a_warning) {
  facts.flag->is_in_memory = false;
  expect_one(facts, "flag", "warning: /flags/orders is not on a tmpfs");
}

BOOST_AUTO_TEST_CASE(that_its_owner_alone_can_read_is_a_warning) {
  facts.flag->mode = 0600;
  facts.flag->owner = 7;
  expect_one(facts, "flag", "warning: only user 7 can read /flags/orders (mode 0600) ->");
}

BOOST_AUTO_TEST_CASE(in_a_folder_that_its_owner_alone_can_enter_is_a_warning) {
  facts.flag->is_folder_closed_to_others = true;
  expect_one(facts, "flag", "warning: only its owner can enter the folder of /flags/orders ->");
}

BOOST_AUTO_TEST_CASE(that_is_to_be_made_is_judged_by_its_configured_mode) {
  facts = facts_without_sidecar();
  facts.flag->exists = false;
  facts.config.config->flag.mode = 0600;
  expect_one(facts, "flag", "warning: only user 0 can read /flags/orders (mode 0600) ->");
}

BOOST_AUTO_TEST_CASE(that_a_silent_process_uses_is_a_warning) {
  facts = facts_without_sidecar();
  facts.flag->lock = {.is_held = true};
  expect_one(facts, "flag",
             "warning: /flags/orders is used by a process that cannot be seen from here");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
