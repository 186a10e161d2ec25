// What no process sees of itself: each check of the audit passes a sound group and can fail.
#include "simulator/audit.hh"

#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::GuardHarness;
using tests::uuid;

Record vote(uint64_t epoch, uint32_t claimant, Duration lease = seconds(1)) {
  return {.max_epoch = epoch,
          .granted_to = claimant == 0 ? Uuid{} : uuid(claimant),
          .lease_seen = lease};
}

std::string write(const Record& held, const Record& record) {
  return Audit().broken_by_write(0, held, record).value_or("");
}

// Node 5 of five voters leads epoch 1 by the grants of 1 and 2.
struct Leader : GuardHarness {
  Leader() : GuardHarness({.self = 5}) { lead(); }
};

// Three voters of which node 5 is one: itself, and these two.
std::string backing(const GuardHarness& leader, const Voter& one, const Voter& other) {
  const Voter voters[] = {{&leader.node(), leader.now()}, one, other, {}, {}};
  // Those who do not run are bound as well: only three of the five are looked at.
  return broken_by_backing(leader.node(), std::span(voters).first(3)).value_or("");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(audit)

// --- the disks ---

BOOST_AUTO_TEST_CASE(what_a_disk_has_rises) {
  BOOST_TEST(write({}, vote(1, 5)) == "");
  BOOST_TEST(write(vote(1, 5), vote(2, 4)) == "");
  BOOST_TEST(write(vote(2, 4), vote(2, 4, seconds(3))) == "");
}

BOOST_AUTO_TEST_CASE(a_disk_may_not_forget_the_highest_epoch) {
  BOOST_TEST(write(vote(2, 5), vote(1, 5)) == "its disk forgets the highest epoch");
}

// Node 1 has promised 5 for a second.
BOOST_AUTO_TEST_CASE(a_disk_may_not_forget_a_promise_that_may_still_run) {
  GuardHarness node({.self = 1});
  node.follow(5, 1);
  Audit audit;
  audit.on_start(0, node.now());
  const auto judge = [&](Duration boot_wait, Duration later = {}) {
    return audit.broken_by_memory(0, {&node.node(), node.now() + later}, boot_wait).value_or("");
  };
  const std::string forgets = "its disk forgets a promise that may still run";
  BOOST_TEST(judge(seconds(1)) == "");
  BOOST_TEST(judge(milliseconds(999)) == forgets);
  BOOST_TEST(judge(milliseconds(999), milliseconds(1)) == "");
  BOOST_TEST(judge({}, seconds(1)) == "");
  audit.on_start(0, node.now() + seconds(3));
  BOOST_TEST(judge(seconds(1)) == forgets);
  BOOST_TEST(judge(seconds(3)) == "");
  BOOST_TEST(judge(seconds(1), seconds(2)) == "");
}

BOOST_AUTO_TEST_CASE(a_disk_may_not_have_two_votes_in_one_epoch) {
  BOOST_TEST(write(vote(2, 5), vote(2, 4)) == "its disk has two votes in one epoch");
  BOOST_TEST(write(vote(2, 0), vote(2, 4)) == "its disk has two votes in one epoch");
  BOOST_TEST(write(vote(2, 4), vote(2, 0)) == "");
}

// --- the reigns ---

BOOST_AUTO_TEST_CASE(an_epoch_is_led_with_the_votes_of_a_majority_on_the_disks) {
  const Leader leader;
  Audit audit;
  for (const uint32_t process : {4u, 0u}) audit.broken_by_write(process, {}, vote(1, 5));
  audit.broken_by_write(1, {}, vote(1, 3));
  const auto broken = audit.broken_by_reign(4, 1, 1, leader.node());
  BOOST_TEST(broken.value_or("") == "leads with 2 votes on the disks");
}

BOOST_AUTO_TEST_CASE(a_vote_that_has_made_way_for_a_later_one_has_counted) {
  const Leader leader;
  Audit audit;
  for (const uint32_t process : {4u, 0u, 1u}) audit.broken_by_write(process, {}, vote(1, 5));
  audit.broken_by_write(1, vote(1, 5), vote(2, 3));
  BOOST_TEST(!audit.broken_by_reign(4, 1, 1, leader.node()).has_value());
}

BOOST_AUTO_TEST_CASE(an_epoch_is_led_once) {
  const Leader leader;
  Audit audit;
  for (const uint32_t process : {4u, 0u, 1u}) audit.broken_by_write(process, {}, vote(1, 5));
  BOOST_TEST(!audit.broken_by_reign(4, 1, 1, leader.node()).has_value());
  BOOST_TEST(!audit.broken_by_reign(4, 1, 1, leader.node()).has_value());  // renewed
  const std::string again = "epoch 1 is led a second time";
  BOOST_TEST(audit.broken_by_reign(4, 2, 1, leader.node()).value_or("") == again);
  BOOST_TEST(audit.broken_by_reign(3, 1, 1, leader.node()).value_or("") == again);
}

BOOST_AUTO_TEST_CASE(a_vote_for_whoever_leads_its_epoch_may_come_late) {
  const Leader leader;
  Audit audit;
  for (const uint32_t process : {4u, 0u, 1u}) audit.broken_by_write(process, {}, vote(1, 5));
  BOOST_TEST(audit.broken_by_write(2, vote(1, 0), vote(1, 5)).has_value());
  BOOST_TEST(!audit.broken_by_reign(4, 1, 1, leader.node()).has_value());
  BOOST_TEST(!audit.broken_by_write(2, vote(1, 0), vote(1, 5)).has_value());
  BOOST_TEST(audit.broken_by_write(2, vote(1, 0), vote(1, 3)).has_value());
  BOOST_TEST(!audit.broken_by_vote(uuid(3), vote(1, 3)).has_value());
  BOOST_TEST(!audit.broken_by_vote(uuid(3), vote(1, 5)).has_value());
  BOOST_TEST(audit.broken_by_vote(uuid(3), vote(1, 2)).has_value());
}

// --- who stands behind a flag ---

BOOST_AUTO_TEST_CASE(voters_are_bound_by_their_promises_until_these_are_over) {
  const Leader leader;
  GuardHarness one({.self = 1});
  GuardHarness other({.self = 2});
  one.follow(5, 1);
  other.follow(5, 1);
  const Instant now = one.now();
  BOOST_TEST(backing(leader, {&one.node(), now}, {&other.node(), now}) == "");
  const Instant later = now + seconds(1);
  BOOST_TEST(backing(leader, {&one.node(), now}, {&other.node(), later}) ==
             "its flag is on with 2 of 3 voters bound to it");
}

BOOST_AUTO_TEST_CASE(a_promise_to_another_or_of_an_earlier_epoch_binds_nobody) {
  const Leader leader;
  GuardHarness one({.self = 1});
  GuardHarness other({.self = 2});
  one.follow(5, 1);
  other.follow(4, 1);
  const std::string two = "its flag is on with 2 of 3 voters bound to it";
  BOOST_TEST(backing(leader, {&one.node(), one.now()}, {&other.node(), other.now()}) == two);
}

BOOST_AUTO_TEST_CASE(who_does_not_run_is_bound_by_the_wait_at_its_next_start) {
  const Leader leader;
  BOOST_TEST(backing(leader, {}, {}) == "");
  GuardHarness back({.self = 1, .record = vote(1, 5)});
  back.join();
  const Instant now = back.now();
  BOOST_TEST(backing(leader, {}, {&back.node(), now}) == "");
  BOOST_TEST(backing(leader, {}, {&back.node(), now + seconds(1)}) ==
             "its flag is on with 2 of 3 voters bound to it");
}

BOOST_AUTO_TEST_CASE(who_has_lost_its_state_is_bound_until_it_has_recalled_it) {
  const Leader leader;
  GuardHarness lost({.self = 1, .start = {.is_state_lost = true}});
  lost.join();
  BOOST_TEST(backing(leader, {}, {&lost.node(), lost.now() + seconds(100)}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::simulator
