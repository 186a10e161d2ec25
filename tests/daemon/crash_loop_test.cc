// Starts of a process, one after the other.
#include "daemon/crash_loop.hh"

#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "state_folder.hh"

namespace bellwether::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Waits = std::vector<seconds::rep>;

constexpr const char* kConfig = "/etc/bellwether/orders.toml";

struct Folder {
  // The waits of `count` starts, each of which comes so long after the one before has begun.
  Waits waits(int count, Duration between) {
    Waits all;
    for (int number = 0; number < count; ++number) {
      const CrashLoop loop(folder.path(), kConfig);
      const CrashLoop::Turn turn = loop.turn(now);
      all.push_back(std::chrono::duration_cast<seconds>(turn.wait).count());
      now += turn.wait;
      loop.begin(turn.quick_starts, now);
      now += between;
    }
    return all;
  }

  io::test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / ".starts-orders.toml";
  Instant now{std::chrono::hours(1) + milliseconds(7)};
};

constexpr Duration kSoon = milliseconds(1100);

}  // namespace

BOOST_FIXTURE_TEST_SUITE(crash_loop, Folder)

BOOST_AUTO_TEST_CASE(a_few_starts_are_made_at_once_and_each_later_one_waits_twice_as_long) {
  BOOST_TEST(
      waits(30, kSoon) == (Waits{0,  0,  0,  2,  4,  8,  16, 16, 16, 16, 16, 16, 16, 16, 16,
                                 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_has_worked_for_a_while_never_waits) {
  BOOST_TEST(waits(30, kSoonAfterStart) == Waits(30, 0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_that_works_for_a_while_ends_the_loop) {
  waits(8, kSoon);
  BOOST_TEST(waits(1, kSoonAfterStart) == Waits{16}, boost::test_tools::per_element());
  BOOST_TEST(waits(1, kSoonAfterStart + kLongestWaitToStart) == Waits{16},
             boost::test_tools::per_element());
  BOOST_TEST(waits(4, kSoon) == (Waits{0, 0, 0, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_end_that_was_wanted_ends_it_as_well) {
  waits(8, kSoon);
  CrashLoop(folder.path(), kConfig).forget();
  BOOST_TEST(waits(1, kSoon) == Waits{0}, boost::test_tools::per_element());
}

// By a supervisor whose patience is shorter than the wait, or for want of memory.
BOOST_AUTO_TEST_CASE(one_that_is_killed_as_it_waits_is_let_start_in_the_end) {
  waits(6, kSoon);
  const CrashLoop loop(folder.path(), kConfig);
  BOOST_TEST((loop.turn(now).wait == seconds(16)));
  now += seconds(11);  // killed meanwhile: the loop is not forgotten, and the wait is shorter
  BOOST_TEST((loop.turn(now).wait == seconds(14)));
  BOOST_TEST(loop.turn(now).quick_starts == 6u);
  now += seconds(11);
  BOOST_TEST((loop.turn(now).wait == seconds(3)));
  now += seconds(11);
  BOOST_TEST((loop.turn(now).wait == Duration::zero()));
}

// Another process tries to get its lock again and again, say.
BOOST_AUTO_TEST_CASE(one_that_runs_does_not_hide_the_loop_of_another) {
  waits(1, seconds(100));
  const CrashLoop runs(folder.path(), kConfig);
  BOOST_TEST(waits(4, kSoon) == (Waits{0, 0, 0, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(sidecars_that_share_a_folder_do_not_count_each_other) {
  waits(8, kSoon);
  const CrashLoop other(folder.path(), "/etc/bellwether/invoices.toml");
  BOOST_TEST(other.turn(now).quick_starts == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_its_own_is_left_as_it_is) {
  const auto nobody_waits = [&] {
    BOOST_TEST(waits(9, kSoon) == Waits(9, 0), boost::test_tools::per_element());
    BOOST_TEST(CrashLoop(folder.path(), kConfig).flaw().starts_with(file.string()));
  };
  for (const std::string content : {"a flag, which is larger", "7\n"}) {
    std::ofstream(file) << content;
    nobody_waits();
    std::ifstream kept(file);
    BOOST_TEST(std::string(std::istreambuf_iterator(kept), {}) == content);
    std::filesystem::remove(file);
  }
  std::ofstream(folder.path() / "other").put('x');
  std::filesystem::create_hard_link(folder.path() / "other", file);
  nobody_waits();
  std::filesystem::remove(file);
  std::filesystem::create_symlink(folder.path() / "other", file);
  nobody_waits();
  BOOST_TEST(std::filesystem::file_size(folder.path() / "other") == 1u);
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  nobody_waits();
}

BOOST_AUTO_TEST_CASE(a_time_that_is_yet_to_come_counts_as_none) {
  waits(8, kSoon);
  now -= std::chrono::minutes(5);
  BOOST_TEST(waits(1, kSoon) == Waits{0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_a_folder_nobody_waits) {
  const CrashLoop none("", kConfig);
  for (int start = 0; start < 9; ++start) {
    BOOST_TEST(none.turn(now).quick_starts == 0u);
    none.begin(0, now);
  }
  none.forget();
  BOOST_TEST(none.flaw() == "");
}

BOOST_AUTO_TEST_CASE(the_folder_is_the_first_that_systemd_names) {
  ::unsetenv("RUNTIME_DIRECTORY");
  BOOST_TEST(CrashLoop::usual_folder().empty());
  ::setenv("RUNTIME_DIRECTORY", "/run/a:/run/b", 1);
  BOOST_TEST(CrashLoop::usual_folder() == "/run/a");
  ::unsetenv("RUNTIME_DIRECTORY");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::daemon
