// The checks of kernel, clock, limits and processor.
#include "expectations.hh"

namespace bellwether::doctor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_FIXTURE_TEST_SUITE(host, HealthyGroup)

BOOST_AUTO_TEST_CASE(a_kernel_that_does_not_mark_futexes_of_the_dead_is_a_warning) {
  facts.futex_flaw = "the kernel refuses it";
  expect_one(facts, "futex",
             "warning: after a kill the flag stays on until its validity ends: the kernel refuses");
}

BOOST_AUTO_TEST_CASE(a_sidecar_that_is_not_confined_is_a_warning_unless_it_was_asked_for) {
  facts.sidecar->why_not_confined = "the kernel has no Landlock";
  expect_one(facts, "confinement",
             "warning: the sidecar is not confined, or in part: the kernel has no Landlock ->");
  facts.config.config->node.is_confined = false;
  BOOST_TEST((verdict_of(diagnose(facts)) == Verdict::kOk));
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_never_set_is_a_problem) {
  facts.clock.year = 1970;
  expect_one(facts, "clock", "problem: the wall clock says it is the year 1970 ->");
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_meanwhile_is_a_warning) {
  facts.clock.wall_elapsed = seconds(61);
  expect_one(facts, "clock", "warning: the wall clock went 60s ahead of CLOCK_BOOTTIME in 1s ->");
  facts.clock.wall_elapsed = -seconds(2);
  expect_one(facts, "clock", "warning: the wall clock went 3s behind CLOCK_BOOTTIME in 1s ->");
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_made_to_run_away_is_a_problem) {
  facts.clock.rate_ppm = -200'000;
  expect_one(facts, "clock", "problem: the kernel makes the clock run -200000");
}

BOOST_AUTO_TEST_CASE(a_clock_that_nobody_sets_is_a_warning) {
  facts.clock.is_synchronised = false;
  expect_one(facts, "clock", "warning: no time service keeps the wall clock right");
}

BOOST_AUTO_TEST_CASE(a_clock_of_which_nothing_is_known_is_well) {
  facts.clock.is_synchronisation_known = facts.clock.is_synchronised = false;
  expect_one(facts, "clock", "ok: CLOCK_BOOTTIME and the wall clock agree; how far");
}

BOOST_AUTO_TEST_CASE(a_time_namespace_of_its_own_is_a_warning) {
  facts.clock.has_boot_offset = true;
  expect_one(facts, "clock", "warning: this process lives in a time namespace");
}

BOOST_AUTO_TEST_CASE(few_open_files_are_a_warning_and_very_few_a_problem) {
  facts.limits.open_files = 1024;
  expect_one(facts, "open files", "warning: process 12 may open 1024 files -> raise it to 4096");
  facts.limits.open_files = 64;
  facts.limits.process = 0;
  expect_one(facts, "open files", "problem: a process started from here may open 64 files ->");
}

BOOST_AUTO_TEST_CASE(a_quota_that_stops_it_for_longer_than_peers_wait_is_a_problem) {
  facts.limits.cpu_quota = milliseconds(50);
  facts.limits.cpu_period = seconds(1);
  expect_one(facts, "processor",
             "problem: the quota is 50ms of processor time in each 1s, so it can stand still for "
             "950ms; peers suspect a silence of 500ms ->");
}

BOOST_AUTO_TEST_CASE(a_quota_that_stops_it_for_half_of_that_is_a_warning) {
  facts.limits.cpu_quota = milliseconds(50);
  facts.limits.cpu_period = milliseconds(300);
  expect_one(facts, "processor", "warning: the quota is 50ms of processor time in each 300ms");
}

BOOST_AUTO_TEST_CASE(a_quota_that_is_used_up_often_is_a_warning) {
  facts.limits.cpu_quota = milliseconds(50);
  facts.limits.cpu_period = milliseconds(100);
  facts.limits.cpu_periods = 1000;
  facts.limits.throttled_periods = 10;
  expect_one(facts, "processor",
             "ok: 50ms of processor time in each 100ms, used up in 10 of 1000 periods");
  facts.limits.throttled_periods = 11;
  expect_one(facts, "processor", "warning: throttled in 11 of 1000 periods ->");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
