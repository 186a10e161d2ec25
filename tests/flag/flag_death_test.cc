// What readers see when the sidecar is killed, 200 times at rest and 200 times in the middle of
// writing, or stopped.  The validity would last for an hour, so only the kernel's mark can switch
// it off.
#include <fcntl.h>
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <random>
#include <thread>

#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"
#include "io/flag/robust_futex.hh"

namespace bellwether::io::test {
namespace {

constexpr int kKills = 200;

// The file's line, once more, and for writing.
leader_flag_line& map_line(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR));
  void* const mapping =
      ::mmap(nullptr, sizeof(leader_flag_line), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapping == MAP_FAILED) std::abort();
  return *static_cast<leader_flag_line*>(mapping);
}

// Odd epochs are led, even ones are followed.  Without the writer's system calls, so that nearly
// every kill finds it in the middle of an update.
[[noreturn]] void write_for_ever(leader_flag_line& line) {
  const auto for_ever = static_cast<uint64_t>(from_now(1h).time_since_epoch().count());
  uint64_t boot_id_hash = 0;
  leader_flag_boot_id_hash(&boot_id_hash);
  for (uint64_t epoch = 1;; ++epoch) {
    const bool leads = epoch % 2 == 1;
    const auto role = static_cast<uint8_t>(leads ? LEADER_FLAG_LEADER : LEADER_FLAG_FOLLOWER);
    write_flag_line(line, {.role = role, .epoch = epoch, .leader = id_of(epoch)},
                    leads ? for_ever : 0, boot_id_hash);
  }
}

[[noreturn]] void publish_for_ever(FlagWriter& writer) {
  for (uint64_t epoch = 1;; ++epoch) {
    writer.publish(epoch % 2 == 1 ? leading(epoch) : following(epoch));
  }
}

// True when there is a state; it belongs together.
bool expect_whole(const leader_flag_snapshot& seen) {
  if (seen.role == LEADER_FLAG_UNKNOWN) return false;
  const bool leads = seen.epoch % 2 == 1;
  BOOST_REQUIRE(id_in(seen) == id_of(seen.epoch));
  BOOST_REQUIRE((seen.role == LEADER_FLAG_LEADER) == leads);
  BOOST_REQUIRE(seen.fencing_token == (leads ? seen.epoch : 0));
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(death)

BOOST_AUTO_TEST_CASE(the_kernel_here_marks_the_futexes_of_the_dead) {
  const char* flaw = robust_futex_flaw();
  BOOST_TEST((flaw == nullptr), flaw);
}

BOOST_AUTO_TEST_CASE(a_killed_sidecars_flag_is_off_before_anybody_can_know_of_its_death) {
  const ScratchFolder folder;
  make_flag(folder.file());
  const Reader reader(folder.file());
  for (uint64_t epoch = 1; epoch <= kKills; ++epoch) {
    Child child([&] {
      FlagWriter writer({.path = folder.file()});
      writer.publish(leading(epoch));
      sleep_for_ever();
    });
    BOOST_REQUIRE(eventually([&] { return reader.epoch() == epoch; }));
    child.kill();
    child.wait_for_close();
    BOOST_REQUIRE(!reader.is_leader());
    BOOST_REQUIRE(reader.get()->line->owner == LEADER_FLAG_OWNER_DIED);
  }
}

BOOST_AUTO_TEST_CASE(a_sidecar_killed_while_it_writes_leaves_no_torn_state) {
  const ScratchFolder folder;
  make_flag(folder.file());
  const Reader reader(folder.file());
  std::mt19937 random(1);
  std::uniform_int_distribution<int> some_us(0, 1500);
  uint64_t seen_states = 0;
  int cut_short = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    Child child([&] {
      FlagWriter writer({.path = folder.file()});
      if (kill % 2 == 0) publish_for_ever(writer);
      write_for_ever(map_line(folder.file()));
    });
    BOOST_REQUIRE(eventually([&] { return reader.epoch() != 0; }));
    const uint64_t kill_ns = leader_flag_now_ns() + static_cast<uint64_t>(some_us(random)) * 1000;
    bool is_killed = false;
    while (!child.has_closed()) {
      if (!is_killed && leader_flag_now_ns() >= kill_ns) {
        child.kill();
        is_killed = true;
      }
      seen_states += expect_whole(reader.snapshot());
    }
    BOOST_REQUIRE(!reader.is_leader());
    BOOST_REQUIRE(!reader.snapshot().is_sidecar_alive);
    cut_short += reader.get()->line->seq % 2 == 1;
  }
  BOOST_TEST_MESSAGE(seen_states << " states seen, " << cut_short << " of " << kKills
                                 << " updates were cut short");
  BOOST_TEST(seen_states > 0u);
  BOOST_WARN(cut_short > 0);  // luck decides
}

// A reader's patience is bounded: what is not whole is off.
BOOST_AUTO_TEST_CASE(a_sidecar_stopped_while_it_writes_shows_no_torn_state) {
  const ScratchFolder folder;
  make_flag(folder.file());
  const Reader reader(folder.file());
  const Child child([&] {
    const FlagWriter writer({.path = folder.file()});
    write_for_ever(map_line(folder.file()));
  });
  BOOST_REQUIRE(eventually([&] { return reader.epoch() != 0; }));
  int cut_short = 0;
  for (int stop = 0; stop < kKills; ++stop) {
    child.stop();
    const bool is_cut_short = reader.get()->line->seq % 2 == 1;
    BOOST_REQUIRE(expect_whole(reader.snapshot()) == !is_cut_short);
    cut_short += is_cut_short;
    child.go_on();
    std::this_thread::sleep_for(100us);
  }
  BOOST_TEST_MESSAGE(cut_short << " of " << kKills << " stops were in the middle of an update");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
