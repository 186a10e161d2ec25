// Files that do not answer, and what is left to others.
#include "daemon/reread.hh"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

#include "base/file_turn.hh"
#include "loop_run.hh"

using bellwether::FileTurn;
using bellwether::daemon::Reread;
using bellwether::daemon::Unread;
using namespace bellwether::io;

namespace {

struct Mount {
  std::atomic<bool> hangs = true;
  std::atomic<size_t> threads = 0;
  Loop loop;

  ~Mount() { hangs = false; }
  // As one reload after the other makes them.
  void read_and_let_go() {
    Reread<int> file(
        loop, 0, [this](int) { return read(); }, [](int last, const Unread&) { return last; },
        [](int) {});
    file.read([] {});
  }
  int read() {
    ++threads;
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 1;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(reread)

BOOST_FIXTURE_TEST_CASE(readings_that_hang_leave_threads_for_the_state, Mount) {
  for (size_t i = 0; i < 2 * kMaxThreads; ++i) read_and_let_go();
  bool is_written = false;
  const auto write = run_in_pool(
      loop, [] { return true; }, [&](bool done) { is_written = done; });
  BOOST_TEST(run_until(loop, [&] { return is_written; }));
  BOOST_TEST(run_until(loop, [this] { return threads == kMaxThreads; }));
  hangs = false;
  BOOST_TEST(run_until(loop, [this] { return loop.threads() == 0; }));
}

// As by SIGSTOP, or on a machine that has other things to do: nothing is wrong with the file.
BOOST_AUTO_TEST_CASE(a_reading_is_not_given_up_because_the_process_was_stopped) {
  constexpr std::chrono::milliseconds kMoment(20);
  std::atomic<bool> is_stopped = true;  // the thread as well, for which the loop waits at its end
  Loop loop;
  int found = 0;
  Reread<int> file(
      loop, 0,
      [&](int) {
        while (is_stopped) std::this_thread::sleep_for(kMoment);
        std::this_thread::sleep_for(kMoment);
        return 2;
      },
      [](int, const Unread&) { return -1; }, [&](int read) { found = found < 0 ? found : read; });
  LoopTimer stop(loop, [&] {
    std::this_thread::sleep_for(Reread<int>::kPatience * 1.1);
    is_stopped = false;
  });
  stop.arm({});
  file.read([] {});
  BOOST_TEST(run_until(loop, [&] { return found != 0; }));
  BOOST_TEST(found == 2);
}

BOOST_FIXTURE_TEST_CASE(what_finds_no_thread_is_given_up_and_read_later, Mount) {
  for (size_t i = 0; i < kMaxThreads; ++i) read_and_let_go();
  int found = 0;
  bool is_answered = false;
  Reread<int> file(
      loop, 0, [](int) { return 2; },
      [](int, const Unread& unread) { return unread.why == Unread::kAllHang ? -1 : -2; },
      [&](int read) { found = read; });
  file.read([&] { is_answered = true; });
  BOOST_TEST(is_answered);
  BOOST_TEST(found == -1);
  hangs = false;
  BOOST_TEST(run_until(loop, [&] { return found == 2; }));
}

BOOST_FIXTURE_TEST_CASE(a_look_that_finds_no_thread_is_put_off, Mount) {
  for (size_t i = 0; i < kMaxThreads; ++i) read_and_let_go();
  int found = 0;
  const Reread<int> file(
      loop, 0, [](int) { return 2; }, [](int, const Unread&) { return -1; },
      [&](int read) { found = read; });
  bool is_later = false;
  LoopTimer two_looks_later(loop, [&] { is_later = true; });
  two_looks_later.arm(std::chrono::milliseconds(2500));
  BOOST_TEST(run_until(loop, [&] { return is_later; }));
  BOOST_TEST(found == 0);
  hangs = false;
  BOOST_TEST(run_until(loop, [&] { return found == 2; }));
}

BOOST_AUTO_TEST_CASE(what_is_given_up_names_the_file) {
  Loop loop;
  std::atomic<bool> hangs = true;
  std::string found;
  Reread<std::string> files(
      loop, "",
      [&](const std::string&) {
        { const FileTurn good("good"); }
        const FileTurn turn("bad");
        while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return "";
      },
      [](const std::string&, const Unread& unread) { return unread.file; },
      [&](const std::string& read) { found = read; });
  files.read([] {});
  BOOST_TEST(run_until(loop, [&] { return !found.empty(); }));
  BOOST_TEST(found == "bad");
  hangs = false;
  BOOST_TEST(run_until(loop, [&] { return loop.threads() == 0; }));
}

BOOST_AUTO_TEST_CASE(who_hangs_at_a_file_is_alone_there) {
  std::atomic<bool> is_there = false, has_gone = false;
  std::thread first([&] {
    const FileTurn turn("a");
    is_there = true;
    while (!has_gone) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  while (!is_there) std::this_thread::yield();
  BOOST_TEST(FileTurn("b").is_ours());
  BOOST_TEST(!FileTurn("a").is_ours());  // after two seconds
  has_gone = true;
  first.join();
  BOOST_TEST(FileTurn("a").is_ours());
}

BOOST_AUTO_TEST_CASE(who_only_reads_it_is_waited_for) {
  std::atomic<bool> is_there = false;
  std::thread first([&] {
    const FileTurn turn("a");
    is_there = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  while (!is_there) std::this_thread::yield();
  const FileTurn turn("a");
  BOOST_TEST(turn.is_ours());
  first.join();
}

BOOST_AUTO_TEST_SUITE_END()
