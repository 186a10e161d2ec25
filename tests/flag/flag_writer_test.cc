// The sidecar's side of the flag: what readers see of it from its start to its end.
#include "io/flag/flag_writer.hh"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>

#include "flag_harness.hh"

namespace bellwether::io::test {
namespace {

uint64_t hash_of_this_boot() {
  uint64_t hash = 0;
  BOOST_REQUIRE(leader_flag_boot_id_hash(&hash) == 0);
  return hash;
}

// A file as an earlier process leaves it: it led, in epoch 99, for an hour to come.
void leave(const std::filesystem::path& path, uint32_t owner, uint32_t seq) {
  leader_flag_line line{};
  const Duration valid_until = from_now(1h).time_since_epoch();
  write_flag_line(line, {.role = LEADER_FLAG_LEADER, .epoch = 99, .leader = id_of(99)},
                  static_cast<uint64_t>(valid_until.count()), hash_of_this_boot());
  line.owner = owner;
  line.seq = seq;
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  BOOST_REQUIRE(::ftruncate(file.get(), LEADER_FLAG_FILE_BYTES) == 0);
  BOOST_REQUIRE(::pwrite(file.get(), &line, sizeof line, 0) == sizeof line);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(writer)

BOOST_AUTO_TEST_CASE(is_off_at_first_and_alive) {
  const ScratchFolder folder;
  const FlagWriter writer({.path = folder.file(), .guard = LEADER_FLAG_GUARD_MAJORITY});
  const leader_flag_snapshot seen = Reader(folder.file()).snapshot();
  BOOST_TEST(seen.role == LEADER_FLAG_UNKNOWN);
  BOOST_TEST(seen.epoch == 0u);
  BOOST_TEST(seen.is_sidecar_alive);
  BOOST_TEST(seen.guard == LEADER_FLAG_GUARD_MAJORITY);
}

BOOST_AUTO_TEST_CASE(a_reader_sees_each_publication) {
  const ScratchFolder folder;
  FlagWriter writer({.path = folder.file()});
  const Reader reader(folder.file());
  writer.publish(following(4));
  BOOST_TEST(reader.snapshot().role == LEADER_FLAG_FOLLOWER);
  BOOST_TEST(id_in(reader.snapshot()) == id_of(4));
  writer.publish(leading(5));
  BOOST_TEST(reader.epoch() == 5u);
  BOOST_TEST(id_in(reader.snapshot()) == id_of(5));
  writer.publish({.epoch = 5});
  BOOST_TEST(reader.epoch() == 0u);
  BOOST_TEST(reader.snapshot().role == LEADER_FLAG_UNKNOWN);
  BOOST_TEST(reader.snapshot().is_sidecar_alive);
}

BOOST_AUTO_TEST_CASE(a_leadership_that_is_not_renewed_runs_out) {
  const ScratchFolder folder;
  FlagWriter writer({.path = folder.file()});
  const Reader reader(folder.file());
  writer.publish(leading(5, 30ms));
  BOOST_TEST(eventually([&] { return !reader.is_leader(); }));
  writer.publish(leading(5));
  BOOST_TEST(reader.is_leader());
}

BOOST_AUTO_TEST_CASE(a_validity_before_the_clock_began_is_off) {
  const ScratchFolder folder;
  FlagWriter writer({.path = folder.file()});
  writer.publish({.is_leader = true, .epoch = 5, .leader = id_of(5), .valid_until = Instant(-1s)});
  BOOST_TEST(!Reader(folder.file()).is_leader());
}

BOOST_AUTO_TEST_CASE(a_renewal_is_no_new_publication) {
  const ScratchFolder folder;
  FlagWriter writer({.path = folder.file()});
  const Reader reader(folder.file());
  writer.publish(leading(5, 1h));
  const leader_flag_snapshot before = reader.snapshot();
  writer.publish(leading(5, 2h));
  const leader_flag_snapshot after = reader.snapshot();
  BOOST_TEST(after.valid_until_ns > before.valid_until_ns);
  BOOST_TEST(after.seq == before.seq);
}

BOOST_AUTO_TEST_CASE(is_off_and_let_go_after_its_end) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer(std::in_place, FlagFileSettings{.path = folder.file()});
  const Reader reader(folder.file());
  writer->publish(leading(5));
  writer.reset();
  BOOST_TEST(!reader.is_leader());
  BOOST_TEST(!reader.snapshot().is_sidecar_alive);
  BOOST_TEST(reader.get()->line->owner == 0u);
  BOOST_TEST(reader.get()->line->valid_until_ns == 0u);
}

BOOST_AUTO_TEST_CASE(a_mapping_stays_good_when_the_sidecar_restarts) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer(std::in_place, FlagFileSettings{.path = folder.file()});
  const Reader reader(folder.file());
  writer->publish(leading(5));
  writer.reset();
  writer.emplace(FlagFileSettings{.path = folder.file()});
  BOOST_TEST(!reader.is_leader());
  BOOST_TEST(reader.snapshot().is_sidecar_alive);
  writer->publish(leading(6));
  BOOST_TEST(reader.epoch() == 6u);
}

// The case in which only the order of writes helps: the owner becomes a living one again.
BOOST_AUTO_TEST_CASE(what_an_earlier_process_left_is_never_believed_while_it_is_taken_over) {
  const ScratchFolder folder;
  leave(folder.file(), LEADER_FLAG_OWNER_DIED, 2);
  const Reader reader(folder.file());
  std::atomic<bool> is_over = false;
  uint64_t believed = 0;
  std::thread watcher([&] {
    while (!is_over) believed += reader.is_leader();
  });
  for (uint32_t restart = 0; restart < 200; ++restart) {
    // Also with the odd seq of an update that was cut short.  No seq comes twice: to a reader, what
    // it has read before and after would belong together.
    leave(folder.file(), LEADER_FLAG_OWNER_DIED, 16 * (restart + 1) + restart % 2);
    const FlagWriter writer({.path = folder.file()});
    BOOST_TEST(reader.snapshot().is_sidecar_alive);
    BOOST_TEST(!reader.is_leader());
  }
  is_over = true;
  watcher.join();
  BOOST_TEST(believed == 0u);
}

// On a kernel without robust futexes the dead owner's thread id stays.
BOOST_AUTO_TEST_CASE(an_owner_that_only_seems_to_live_is_taken_over_from) {
  const ScratchFolder folder;
  leave(folder.file(), kSomeThread, 2);
  const Reader reader(folder.file());
  BOOST_TEST(reader.is_leader());
  const FlagWriter writer({.path = folder.file()});
  BOOST_TEST(!reader.is_leader());
  BOOST_TEST(reader.get()->line->owner != kSomeThread);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
