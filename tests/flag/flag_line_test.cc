// The line itself: its bytes, and one writer against readers at full speed.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <latch>
#include <thread>

#include "flag_harness.hh"
#include "io/flag/held_flag.hh"

namespace bellwether::io::test {
namespace {

std::string hex(const leader_flag_line& line) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&line);
  std::string text;
  for (size_t i = 0; i < sizeof line; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

// Odd epochs are led, even ones are followed.
FlagWord word_of(uint64_t epoch) {
  return {.role = static_cast<uint8_t>(epoch % 2 == 1 ? LEADER_FLAG_LEADER : LEADER_FLAG_FOLLOWER),
          .epoch = epoch,
          .leader = id_of(epoch)};
}

// What one reader saw until `is_over`.
struct Sight {
  uint64_t whole = 0;
  uint64_t torn = 0;
  uint64_t backward = 0;
};

Sight watch(const leader_flag& flag, const std::atomic<bool>& is_over) {
  Sight sight;
  uint64_t last = 0;
  do {
    leader_flag_snapshot seen;
    leader_flag_read(&flag, &seen);
    if (seen.epoch == 0) continue;  // an update took longer than a reader's patience
    const FlagWord word = word_of(seen.epoch);
    const bool is_whole = id_in(seen) == word.leader && seen.role == word.role &&
                          (seen.role == LEADER_FLAG_LEADER) == (seen.fencing_token == seen.epoch);
    ++(is_whole ? sight.whole : sight.torn);
    if (seen.epoch < last) ++sight.backward;
    last = seen.epoch;
  } while (!is_over);
  return sight;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(line)

// If this fails, applications that were built against an earlier header are lost.
BOOST_AUTO_TEST_CASE(its_bytes_are_what_they_were) {
  BOOST_TEST(LEADER_FLAG_ABI == 1u);
  BOOST_TEST(LEADER_FLAG_FILE_BYTES == 4096);
  BOOST_TEST(LEADER_FLAG_FOLLOWER == 1);
  BOOST_TEST(LEADER_FLAG_DRAINING == 1);
  leader_flag_line line{};
  const FlagWord word{.role = LEADER_FLAG_LEADER,
                      .guard = LEADER_FLAG_GUARD_MAJORITY,
                      .epoch = 0x0102030405060708,
                      .leader = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa,
                                 0xab, 0xac, 0xad, 0xae, 0xaf},
                      .flags = LEADER_FLAG_DRAINING};
  write_flag_line(line, word, 0x1112131415161718, 0x2122232425262728);
  line.owner = 0x40000001;
  BOOST_TEST(hex(line) ==
             "01000040"
             "02000000"
             "0807060504030201"
             "1817161514131211"
             "2827262524232221"
             "01"
             "02"
             "01"
             "01"
             "00000000"
             "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
             "0000000000000000");
}

BOOST_AUTO_TEST_CASE(a_renewal_moves_the_validity_alone) {
  Line subject;
  const leader_flag_line before = subject.line;
  renew_flag_line(subject.line, 99);
  BOOST_TEST(subject.line.valid_until_ns == 99u);
  subject.line.valid_until_ns = before.valid_until_ns;
  BOOST_TEST(hex(subject.line) == hex(before));
}

// A reader that began before the dead writer's update must not find its seq again.
BOOST_AUTO_TEST_CASE(an_update_that_was_cut_short_is_followed_by_a_newer_seq) {
  leader_flag_line line{};
  line.seq = 7;
  write_flag_line(line, {}, 0, kSomeBoot);
  BOOST_TEST(line.seq == 10u);
  line.seq = UINT32_MAX;
  write_flag_line(line, {}, 0, kSomeBoot);
  BOOST_TEST(line.seq == 2u);
}

BOOST_AUTO_TEST_CASE(readers_at_full_speed_see_no_torn_state) {
  constexpr uint64_t kUpdates = 300'000;
  Line subject;
  const uint64_t for_ever = subject.line.valid_until_ns;
  std::atomic<bool> is_over = false;
  Sight first;
  Sight second;
  std::latch start(3);
  const auto run = [&](Sight& sight) {
    start.arrive_and_wait();
    sight = watch(subject.flag, is_over);
  };
  std::thread reader([&] { run(first); });
  std::thread other([&] { run(second); });
  start.arrive_and_wait();
  for (uint64_t epoch = 8; epoch <= kUpdates; ++epoch) {
    const FlagWord word = word_of(epoch);
    write_flag_line(subject.line, word, word.role == LEADER_FLAG_LEADER ? for_ever : 0, kSomeBoot);
  }
  is_over = true;
  reader.join();
  other.join();
  for (const Sight& sight : {first, second}) {
    BOOST_TEST(sight.torn == 0u);
    BOOST_TEST(sight.backward == 0u);
  }
  BOOST_TEST(first.whole + second.whole > 0u);
  BOOST_TEST_MESSAGE(first.whole << " and " << second.whole << " whole states seen");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
