// When the flag is on, and each of the reasons for which it is off.
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "flag_harness.hh"

namespace bellwether::io::test {
namespace {

bool is_on(const Line& subject) { return leader_flag_is_leader(&subject.flag, nullptr); }

leader_flag_snapshot read(const Line& subject) {
  leader_flag_snapshot snapshot;
  leader_flag_read(&subject.flag, &snapshot);
  return snapshot;
}

// Names no leader, and the sidecar is alive or not.
void expect_nothing(const Line& subject, bool is_sidecar_alive) {
  const leader_flag_snapshot seen = read(subject);
  BOOST_TEST(!is_on(subject));
  BOOST_TEST(seen.role == LEADER_FLAG_UNKNOWN);
  BOOST_TEST(seen.epoch == 0u);
  BOOST_TEST(seen.fencing_token == 0u);
  BOOST_TEST(seen.valid_until_ns == 0u);
  BOOST_TEST(id_in(seen).is_nil());
  BOOST_TEST(seen.is_sidecar_alive == is_sidecar_alive);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reader)

BOOST_AUTO_TEST_CASE(a_leader_is_seen_with_all_that_is_known_of_it) {
  const Line subject;
  uint64_t epoch = 0;
  BOOST_TEST(leader_flag_is_leader(&subject.flag, &epoch));
  BOOST_TEST(epoch == 7u);
  const leader_flag_snapshot seen = read(subject);
  BOOST_TEST(seen.role == LEADER_FLAG_LEADER);
  BOOST_TEST(seen.epoch == 7u);
  BOOST_TEST(seen.fencing_token == 7u);
  BOOST_TEST(seen.valid_until_ns == subject.line.valid_until_ns);
  BOOST_TEST(id_in(seen) == id_of(7));
  BOOST_TEST(seen.guard == LEADER_FLAG_GUARD_MAJORITY);
  BOOST_TEST(seen.is_sidecar_alive);
}

BOOST_AUTO_TEST_CASE(a_follower_names_its_leader_but_has_no_token) {
  Line subject;
  write_flag_line(subject.line, {.role = LEADER_FLAG_FOLLOWER, .epoch = 8, .leader = id_of(8)}, 0,
                  kSomeBoot);
  const leader_flag_snapshot seen = read(subject);
  BOOST_TEST(!is_on(subject));
  BOOST_TEST(seen.role == LEADER_FLAG_FOLLOWER);
  BOOST_TEST(seen.epoch == 8u);
  BOOST_TEST(seen.fencing_token == 0u);
  BOOST_TEST(id_in(seen) == id_of(8));
}

BOOST_AUTO_TEST_CASE(is_off_when_nobody_holds_it) {
  Line subject;
  subject.line.owner = 0;
  expect_nothing(subject, false);
}

BOOST_AUTO_TEST_CASE(is_off_when_its_holder_died) {
  Line subject;
  subject.line.owner = LEADER_FLAG_OWNER_DIED;
  expect_nothing(subject, false);
  subject.line.owner = LEADER_FLAG_OWNER_DIED | kSomeThread;
  expect_nothing(subject, false);
}

BOOST_AUTO_TEST_CASE(is_off_when_its_validity_has_passed) {
  Line subject;
  subject.line.valid_until_ns = leader_flag_now_ns();
  expect_nothing(subject, true);
}

BOOST_AUTO_TEST_CASE(is_off_when_it_was_written_in_another_boot) {
  Line subject;
  subject.line.boot_id_hash = kSomeBoot + 1;
  expect_nothing(subject, false);
}

BOOST_AUTO_TEST_CASE(is_off_when_a_newer_sidecar_has_taken_it_over) {
  Line subject;
  subject.line.abi = LEADER_FLAG_ABI + 1;
  expect_nothing(subject, false);
}

BOOST_AUTO_TEST_CASE(is_off_when_a_writer_stopped_in_the_middle) {
  Line subject;
  subject.line.seq |= 1;
  expect_nothing(subject, false);
}

BOOST_AUTO_TEST_CASE(work_begins_only_when_there_is_time_for_it) {
  Line subject;
  uint64_t token = 0;
  const uint64_t minute = 60'000'000'000;
  renew_flag_line(subject.line, leader_flag_now_ns() + minute);
  BOOST_TEST(!leader_flag_begin(&subject.flag, minute, &token));
  BOOST_TEST(!leader_flag_begin(&subject.flag, UINT64_MAX, &token));
  BOOST_TEST(token == 0u);
  BOOST_TEST(leader_flag_begin(&subject.flag, minute / 2, &token));
  BOOST_TEST(token == 7u);
}

BOOST_AUTO_TEST_CASE(in_a_drain_work_ends_and_none_begins) {
  Line subject;
  uint64_t token = 0;
  BOOST_TEST(leader_flag_begin(&subject.flag, 1, &token));
  const FlagWord draining{.role = LEADER_FLAG_LEADER,
                          .epoch = token,
                          .leader = id_of(7),
                          .flags = LEADER_FLAG_DRAINING};
  write_flag_line(subject.line, draining, subject.line.valid_until_ns, kSomeBoot);
  uint64_t other = 0;
  BOOST_TEST(!leader_flag_begin(&subject.flag, 1, &other));
  BOOST_TEST(other == 0u);
  BOOST_TEST(is_on(subject));
  BOOST_TEST(leader_flag_still(&subject.flag, token));
}

BOOST_AUTO_TEST_CASE(work_counts_only_in_the_epoch_in_which_it_began) {
  Line subject;
  uint64_t token = 0;
  BOOST_TEST(leader_flag_begin(&subject.flag, 1, &token));
  BOOST_TEST(leader_flag_still(&subject.flag, token));
  write_flag_line(subject.line, {.role = LEADER_FLAG_LEADER, .epoch = 9, .leader = id_of(7)},
                  subject.line.valid_until_ns, kSomeBoot);
  BOOST_TEST(is_on(subject));
  BOOST_TEST(!leader_flag_still(&subject.flag, token));
}

BOOST_AUTO_TEST_CASE(a_boot_is_named_by_the_published_hash_of_its_id) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  BOOST_REQUIRE(std::getline(file, text));
  uint64_t expected = 14695981039346656037u;
  for (const char character : text) {
    expected ^= static_cast<unsigned char>(character);
    expected *= 1099511628211u;
  }
  uint64_t hash = 0;
  BOOST_TEST(leader_flag_boot_id_hash(&hash) == 0);
  BOOST_TEST(hash == expected);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
