// Who works on which thread.
#include "io/loop/job_threads.hh"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "io/loop/job.hh"
#include "io/loop/thread_traces.hh"
#include "loop_run.hh"

using namespace bellwether::io;

namespace {

// Within which the kernel lists a thread no more that has ended.
constexpr std::chrono::milliseconds kMoment(3);

size_t count_threads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

struct Threads {
  size_t at_first = 0;

  // ThreadSanitizer has one of its own from the first that is started.
  explicit Threads(bool may_dump_core = false) {
    ::prctl(PR_SET_DUMPABLE, may_dump_core ? 1 : 0);
    std::thread([] {}).join();
    do {
      at_first = count_threads();
      std::this_thread::sleep_for(kMoment);
    } while (count_threads() != at_first);
  }
  // Those of a loop that is no more end with it, or soon.
  ~Threads() {
    for (int i = 0; i < 20000 && count_threads() > at_first; ++i) {
      std::this_thread::sleep_for(kMoment);
    }
    BOOST_TEST(count_threads() <= at_first);
    ::prctl(PR_SET_DUMPABLE, 1);  // as LeakSanitizer needs it
  }
};

struct Dumped : Threads {
  Dumped() : Threads(true) {}
};

// `address` is where the secret is after it has returned, if nobody wipes it.
[[gnu::noinline, gnu::no_sanitize_address]] void leave_on_the_stack(const std::string& secret,
                                                                    uintptr_t& address) {
  std::array<volatile char, size_t{8} << 10> copy;
  std::ranges::copy(secret, copy.begin());
  address = reinterpret_cast<uintptr_t>(copy.data());
}

// Through the kernel, since it may be mapped no more: then "".
std::string in_memory(int memory, uintptr_t address, size_t size) {
  std::string bytes(size, '\0');
  const ssize_t count = ::pread(memory, bytes.data(), size, static_cast<off_t>(address));
  return count == static_cast<ssize_t>(size) ? bytes : "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(job_threads)

// A thread that has just told its result may not wait yet.
BOOST_FIXTURE_TEST_CASE(one_job_after_the_other_shares_a_thread, Threads) {
  Loop loop;
  std::set<pid_t> threads;
  const auto has_shared = [&] {
    bool is_done = false;
    const size_t before = threads.size();
    const auto job = run_in_thread(
        loop, [] { return ::gettid(); },
        [&](pid_t thread) {
          threads.insert(thread);
          is_done = true;
        });
    return run_until(loop, [&] { return is_done; }) && threads.size() == before;
  };
  BOOST_TEST(run_until(loop, has_shared));
}

BOOST_FIXTURE_TEST_CASE(whoever_hangs_holds_up_nobody_and_one_thread_stays, Threads) {
  constexpr int kJobs = 5;
  std::latch all_run(kJobs);
  int done = 0;
  Loop loop;
  std::vector<std::shared_ptr<void>> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.push_back(run_in_thread(
        loop,
        [&] {
          all_run.arrive_and_wait();
          return true;
        },
        [&](bool /*is_over*/) { ++done; }));
  }
  BOOST_TEST(run_until(loop, [&] { return done == kJobs; }));
  BOOST_TEST(run_until(loop, [&] { return count_threads() == at_first + 1; }));
}

// It might have a piece of a key in its registers.
BOOST_FIXTURE_TEST_CASE(none_stays_where_its_registers_would_be_in_a_core_dump, Dumped) {
  Loop loop;
  bool is_done = false;
  const auto job = run_in_thread(
      loop, [] { return true; }, [&](bool done) { is_done = done; });
  BOOST_TEST(run_until(loop, [&] { return is_done && count_threads() == at_first; }));
}

// The C library keeps it mapped for the next thread, and so it would be in the dump.
BOOST_FIXTURE_TEST_CASE(the_stack_of_one_that_has_ended_is_wiped_there, Dumped) {
  Loop loop;
  const std::string secret = "a secret of 32 bytes, as a key i";
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  uintptr_t left_at = 0;
  std::string left;
  const auto job = run_in_thread(
      loop,
      [&] {
        uintptr_t address = 0;
        leave_on_the_stack(secret, address);
        left = in_memory(memory, address, secret.size());
        return address;
      },
      [&](uintptr_t address) { left_at = address; });
  BOOST_TEST(run_until(loop, [&] { return left_at != 0 && count_threads() == at_first; }));
  BOOST_TEST(left == secret);
  BOOST_TEST(in_memory(memory, left_at, secret.size()) != secret);
  ::close(memory);
}

// The main thread reads such files at the start.
BOOST_FIXTURE_TEST_CASE(a_thread_that_goes_on_wipes_what_calls_have_left, Dumped) {
  const std::string secret = "a secret of 32 bytes, as a key i";
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  uintptr_t address = 0;
  leave_on_the_stack(secret, address);
  BOOST_TEST(in_memory(memory, address, secret.size()) == secret);
  wipe_traces();
  BOOST_TEST(in_memory(memory, address, secret.size()) != secret);
  ::close(memory);
}

BOOST_AUTO_TEST_SUITE_END()
