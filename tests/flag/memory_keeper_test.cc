// What becomes of a process with a keeper, and of the keeper, when either is killed.
#include "io/flag/memory_keeper.hh"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {
namespace {

constexpr uint64_t kMark = 0x5ca1ab1e;
uint64_t mark_in_memory = 0;

std::filesystem::path folder_of(pid_t id) { return "/proc/" + std::to_string(id); }

std::string status_line(pid_t id, const std::string& name) {
  std::ifstream in(folder_of(id) / "status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  }
  return "";
}

// A child process with a keeper, which does something first; what it writes into its memory can be
// seen from here.
class Kept {
 public:
  explicit Kept(const std::function<void()>& deed = [] { mark_in_memory = kMark; })
      : child_([this, &deed] {
          const MemoryKeeper keeper;
          deed();
          const pid_t id = keeper.id();
          if (::write(said_[1], &id, sizeof id) != sizeof id) ::_exit(1);
          sleep_for_ever();
        }) {
    BOOST_REQUIRE(::read(said_[0], &keeper_, sizeof keeper_) == sizeof keeper_);
    BOOST_REQUIRE(keeper_ > 0);
  }
  ~Kept() {
    for (const int end : said_) ::close(end);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  Child& child() { return child_; }
  pid_t keeper() const { return keeper_; }
  void stop_keeper() const {
    ::kill(keeper_, SIGSTOP);
    BOOST_REQUIRE(eventually([this] { return status_line(keeper_, "State").starts_with('T'); }));
  }

 private:
  // Whose parent has died becomes a child of the test, which thus sees its end.
  const int is_heir_ = ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> said_ = [] {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    return ends;
  }();
  Child child_;
  pid_t keeper_ = 0;
};

uint64_t mark_seen_in(pid_t id) {
  uint64_t seen = 0;
  const iovec here{.iov_base = &seen, .iov_len = sizeof seen};
  const iovec there{.iov_base = &mark_in_memory, .iov_len = sizeof mark_in_memory};
  ::process_vm_readv(id, &here, 1, &there, 1, 0);
  return seen;
}

bool is_pending(pid_t id, int signal) {
  const uint64_t signals = std::stoull(status_line(id, "ShdPnd"), nullptr, 16);
  return (signals >> (signal - 1) & 1) == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_keeper)

// Stopped, the keeper holds the memory for as long as the test looks.
BOOST_AUTO_TEST_CASE(a_killed_processs_files_are_closed_while_its_memory_is_there) {
  Kept kept;
  kept.stop_keeper();
  kept.child().kill();
  kept.child().wait_for_close();
  BOOST_TEST(kept.child().wait() < 0);
  BOOST_TEST(mark_seen_in(kept.keeper()) == kMark);

  ::kill(kept.keeper(), SIGCONT);
  int status = -1;
  BOOST_REQUIRE(::waitpid(kept.keeper(), &status, 0) == kept.keeper());
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

BOOST_AUTO_TEST_CASE(a_killed_sidecars_flag_is_its_successors_while_its_memory_is_there) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer;
  Kept kept([&] { writer.emplace(FlagFileSettings{.path = folder.file()}); });
  kept.stop_keeper();
  kept.child().kill();
  kept.child().wait();
  BOOST_CHECK_NO_THROW(writer.emplace(FlagFileSettings{.path = folder.file()}));
  ::kill(kept.keeper(), SIGKILL);
}

BOOST_AUTO_TEST_CASE(it_holds_nothing_open_but_its_life_line) {
  const MemoryKeeper keeper;
  BOOST_REQUIRE_EQUAL(keeper.flaw(), "");
  const std::filesystem::directory_iterator files(folder_of(keeper.id()) / "fd");
  BOOST_TEST(std::distance(files, {}) == 1);
}

BOOST_AUTO_TEST_CASE(people_see_what_it_is) {
  const MemoryKeeper keeper;
  BOOST_TEST(status_line(keeper.id(), "Name") == "memory-keeper");
}

BOOST_AUTO_TEST_CASE(signals_to_all_of_a_process_group_do_not_end_it) {
  const MemoryKeeper keeper;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGTSTP}) {
    ::kill(keeper.id(), signal);
    BOOST_TEST(is_pending(keeper.id(), signal));
  }
}

BOOST_AUTO_TEST_CASE(it_ends_with_its_owner) {
  pid_t id = 0;
  {
    const MemoryKeeper keeper;
    id = keeper.id();
    BOOST_REQUIRE(::kill(id, 0) == 0);
  }
  BOOST_TEST(::kill(id, 0) == -1);
}

BOOST_AUTO_TEST_CASE(it_ends_with_its_owner_also_when_somebody_has_stopped_it) {
  pid_t id = 0;
  {
    const MemoryKeeper keeper;
    id = keeper.id();
    ::kill(id, SIGSTOP);
    BOOST_REQUIRE(eventually([&] { return status_line(id, "State").starts_with('T'); }));
  }
  BOOST_TEST(::kill(id, 0) == -1);
}

BOOST_AUTO_TEST_CASE(its_owner_outlives_it) {
  Kept kept;
  ::kill(kept.keeper(), SIGKILL);
  BOOST_REQUIRE(eventually([&] { return status_line(kept.keeper(), "State").starts_with('Z'); }));
  BOOST_TEST(!kept.child().has_closed());
}

BOOST_AUTO_TEST_CASE(where_it_cannot_be_it_says_why) {
  Child child([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const MemoryKeeper keeper;
    ::_exit(keeper.flaw() == "socketpair: Too many open files" ? 7 : 1);
  });
  BOOST_TEST(child.wait() == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
