// Lives of a process, one after the other.
#include "daemon/crash_loop.hh"

#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <vector>

#include "state_folder.hh"

namespace bellwether::daemon {
namespace {

using std::chrono::seconds;

constexpr Instant kBoot{std::chrono::hours(1)};

struct Folder {
  Duration next_wait() { return CrashLoop(folder.path()).begin(now).wait; }
  // The waits of `count` lives that last `length` each.
  std::vector<seconds::rep> waits(int count, Duration length) {
    std::vector<seconds::rep> all;
    for (int number = 0; number < count; ++number) {
      const Duration wait = next_wait();
      all.push_back(std::chrono::duration_cast<seconds>(wait).count());
      now += wait + length;
    }
    return all;
  }

  io::test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / ".short_lives";
  Instant now = kBoot;
};

using Waits = std::vector<seconds::rep>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(crash_loop, Folder)

BOOST_AUTO_TEST_CASE(a_few_starts_are_made_at_once_and_each_later_one_waits_twice_as_long) {
  BOOST_TEST(waits(11, seconds(1)) == (Waits{0, 0, 0, 2, 4, 8, 16, 32, 60, 60, 60}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lives_of_a_minute_are_no_loop_however_many_end) {
  BOOST_TEST(waits(11, kShortLife) == Waits(11, 0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_that_lasts_ends_the_loop) {
  waits(8, seconds(1));
  BOOST_TEST(waits(1, kShortLife) == Waits{60}, boost::test_tools::per_element());
  BOOST_TEST(waits(4, seconds(1)) == (Waits{0, 0, 0, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_end_that_was_wanted_ends_it_as_well) {
  waits(8, seconds(1));
  CrashLoop(folder.path()).forget();
  BOOST_TEST((next_wait() == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(one_that_is_killed_as_it_waits_has_not_begun) {
  waits(5, seconds(1));
  BOOST_TEST((next_wait() == seconds(8)));
  BOOST_TEST((next_wait() == seconds(16)));
}

BOOST_AUTO_TEST_CASE(what_is_no_record_counts_as_none) {
  for (const char* text : {"", "7", "many 7", "7 99999999999999999"}) {  // ..., and of later
    std::ofstream(file) << text;
    BOOST_TEST((next_wait() == Duration::zero()), text);
  }
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  BOOST_TEST(waits(9, seconds(1)) == Waits(9, 0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_a_folder_nobody_waits) {
  const CrashLoop none("");
  for (int life = 0; life < 9; ++life) BOOST_TEST((none.begin(now).wait == Duration::zero()));
  none.forget();
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
