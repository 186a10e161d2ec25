// The checks of what all members must have in common.
#include "config/core_options.hh"
#include "core/electorate.hh"
#include "expectations.hh"

namespace bellwether::doctor {
namespace {

BOOST_FIXTURE_TEST_SUITE(agreement, HealthyGroup)

BOOST_AUTO_TEST_CASE(two_lives_with_one_id_are_a_problem) {
  facts.probes[2].greeting->id = id_of(1);
  expect_one(
      facts, "identities",
      "problem: orders-1 (10.0.0.2:7946) and orders-2 (10.0.0.3:7946) have the same id id-1");
}

BOOST_AUTO_TEST_CASE(one_process_at_two_addresses_is_well) {
  facts.probes[2].greeting = facts.probes[1].greeting;
  expect_one(facts, "identities", "ok: 2 processes, each with its own id and name");
}

BOOST_AUTO_TEST_CASE(two_processes_with_one_name_are_a_problem) {
  facts.probes[2].greeting->name = "orders-1";
  expect_one(facts, "identities", "problem: 2 processes have the name orders-1 ->");
}

BOOST_AUTO_TEST_CASE(a_copied_state_folder_is_a_problem) {
  facts = facts_without_sidecar();
  facts.probes[2].greeting->id = to_string(facts.state->id);
  expect_one(facts, "identities",
             "problem: the id in /state is that of a living process, orders-2 (10.0.0.3:7946) ->");
}

BOOST_AUTO_TEST_CASE(a_sidecar_older_than_this_program_is_a_warning) {
  facts.version = "0.2.0";
  expect_one(facts, "versions",
             "warning: the sidecar here is 0.1.0, this program is 0.2.0 -> restart");
}

BOOST_AUTO_TEST_CASE(versions_that_differ_are_a_warning) {
  facts.probes[2].greeting->version = "0.2.0";
  expect_one(facts, "versions",
             "warning: 0.1.0: orders-0 and orders-1; 0.2.0: orders-2 -> fine during an upgrade");
}

BOOST_AUTO_TEST_CASE(plugins_that_differ_are_a_problem) {
  facts.probes[2].greeting->plugin = "lowest";
  expect_one(facts, "plugins", "problem: bully: orders-0 and orders-1; lowest: orders-2 ->");
}

BOOST_AUTO_TEST_CASE(the_abi_is_told_where_a_sidecar_runs) {
  expect_one(healthy_facts(), "plugins",
             "ok: bully: orders-0, orders-1 and orders-2; ABI 1.0 here");
}

BOOST_AUTO_TEST_CASE(variants_that_differ_are_a_warning) {
  facts.probes[1].greeting->variant = "classic";
  expect_one(facts, "variants", "warning: classic: orders-1; modified: orders-0 and orders-2 ->");
}

BOOST_AUTO_TEST_CASE(without_a_sidecar_the_configuration_is_compared) {
  facts = facts_without_sidecar();
  facts.config.config->election.variant = "classic";
  expect_one(facts, "variants",
             "warning: classic: this configuration; modified: orders-1 and orders-2 ->");
}

BOOST_AUTO_TEST_CASE(a_plugin_that_is_a_path_is_not_compared) {
  facts = facts_without_sidecar();
  facts.config.config->election.plugin = "./bellwether-bully.so";
  expect_one(facts, "plugins", "ok: bully: orders-1 and orders-2");
}

BOOST_AUTO_TEST_CASE(voters_that_differ_are_a_problem) {
  facts.config.config->voters = {{"orders-0", {"10.0.0.1", 7946}}};
  const uint64_t hash = Electorate({"orders-0"}).hash();
  for (ProbeFacts& probe : facts.probes) probe.greeting->voters = hash;
  expect_one(facts, "voters", "ok: 1 voter, alike on 3 processes");
  facts.probes[1].greeting->voters = hash + 1;
  facts.probes[2].greeting->voters = 0;
  expect_one(facts, "voters",
             "problem: orders-1 and orders-2 (guard none): other [voters] than the configuration "
             "here (guard majority) ->");
}

BOOST_AUTO_TEST_CASE(records_that_differ_are_a_problem) {
  facts.config.config->etcd.is_used = true;
  facts.config.config->etcd.prefix = "/bellwether/";
  const uint64_t hash = guard_hash(*facts.config.config);
  for (ProbeFacts& probe : facts.probes) probe.greeting->voters = hash;
  expect_one(facts, "voters", "ok: guard etcd, alike on 3 processes");
  facts.probes[2].greeting->voters = 0;
  expect_one(facts, "voters",
             "problem: orders-2 (guard none): another guard or another record than the "
             "configuration here (etcd /bellwether/orders) -> give all the same");
}

BOOST_AUTO_TEST_CASE(leases_of_a_record_that_differ_are_a_warning) {
  facts.config.config->etcd.is_used = true;
  for (ProbeFacts& probe : facts.probes) {
    probe.greeting->voters = guard_hash(*facts.config.config);
    probe.greeting->lease = std::chrono::seconds(10);
  }
  facts.probes[2].greeting->lease = std::chrono::seconds(5);
  expect_one(facts, "voters",
             "warning: lease 10s: orders-0 and orders-1; lease 5s: orders-2 -> set election.lease");
}

BOOST_AUTO_TEST_CASE(a_node_without_a_vote_is_told) {
  facts.config.config->voters = {{"orders-1", {"10.0.0.2", 7946}}};
  for (ProbeFacts& probe : facts.probes) {
    probe.greeting->voters = Electorate({"orders-1"}).hash();
  }
  expect_one(facts, "voters",
             "ok: 1 voter, alike on 3 processes; orders-0 has no vote and never leads");
}

BOOST_AUTO_TEST_CASE(a_leader_that_all_follow_is_well) {
  expect_one(healthy_facts(), "leader", "ok: orders-0, epoch 7: orders-0, orders-1 and orders-2");
}

BOOST_AUTO_TEST_CASE(two_leaders_are_a_problem) {
  facts.probes[2].greeting->leader_id = id_of(2);
  facts.probes[2].greeting->leader_epoch = 8;
  expect_one(facts, "leader",
             "problem: several leaders are followed: orders-0, epoch 7: orders-0 and orders-1; "
             "orders-2, epoch 8: orders-2 ->");
}

BOOST_AUTO_TEST_CASE(no_leader_is_a_warning) {
  for (ProbeFacts& probe : facts.probes) probe.greeting->leader_id.clear();
  expect_one(facts, "leader", "warning: nobody follows a leader ->");
}

BOOST_AUTO_TEST_CASE(nobody_who_says_hello_can_be_compared) {
  for (ProbeFacts& probe : facts.probes) probe.greeting.reset();
  expect_one(facts, "leader", "skipped: no sidecar has said HELLO");
  expect_one(facts, "identities", "skipped: no sidecar has said HELLO");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
