// Files, publications, readers and children for the tests of the flag.
#include "flag_harness.hh"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <thread>

#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const fs::path& parent) {
  std::string name = parent / "bellwether-test-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code unused;
  fs::remove_all(path_, unused);
}

Uuid id_of(uint64_t epoch) {
  const std::array<uint64_t, 2> words{epoch * 0x9e3779b97f4a7c15, ~epoch};
  Uuid id{};
  std::memcpy(id.data, words.data(), sizeof words);
  return id;
}

Uuid id_in(const leader_flag_snapshot& snapshot) {
  Uuid id{};
  std::memcpy(id.data, snapshot.leader_id, sizeof snapshot.leader_id);
  return id;
}

Instant from_now(Duration duration) { return Instant(Duration(leader_flag_now_ns()) + duration); }

Publish leading(uint64_t epoch, Duration valid_for) {
  return {.is_leader = true,
          .epoch = epoch,
          .leader = id_of(epoch),
          .valid_until = from_now(valid_for)};
}

Publish following(uint64_t epoch) { return {.epoch = epoch, .leader = id_of(epoch)}; }

void make_flag(const fs::path& path) { const FlagWriter writer({.path = path}); }

Reader::Reader(const fs::path& path) {
  const int error = leader_flag_open(path.c_str(), &flag_);
  BOOST_REQUIRE_MESSAGE(error == 0, path << ": " << leader_flag_strerror(error));
}

uint64_t Reader::epoch() const {
  uint64_t epoch = 0;
  leader_flag_is_leader(&flag_, &epoch);
  return epoch;
}

leader_flag_snapshot Reader::snapshot() const {
  leader_flag_snapshot snapshot;
  leader_flag_read(&flag_, &snapshot);
  return snapshot;
}

Line::Line() : flag{.line = &line, .boot_id_hash = kSomeBoot} {
  const FlagWord word{.role = LEADER_FLAG_LEADER,
                      .guard = LEADER_FLAG_GUARD_MAJORITY,
                      .epoch = 7,
                      .leader = id_of(7)};
  const Duration valid_until = from_now(1h).time_since_epoch();
  write_flag_line(line, word, static_cast<uint64_t>(valid_until.count()), kSomeBoot);
  line.owner = kSomeThread;
}

Child::Child(const std::function<void()>& life) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  end_ = FileDescriptor(ends[0]);
  id_ = ::fork();
  if (id_ == 0) {
    ::close(ends[0]);
    life();
    ::_exit(0);
  }
  ::close(ends[1]);
  BOOST_REQUIRE(id_ > 0);
}

Child::~Child() {
  if (id_ == 0) return;
  kill();
  wait();
}

void Child::kill() const { ::kill(id_, SIGKILL); }

void Child::stop() const {
  ::kill(id_, SIGSTOP);
  int status = 0;
  BOOST_REQUIRE(::waitpid(id_, &status, WUNTRACED) == id_);
  BOOST_REQUIRE(WIFSTOPPED(status));
}

void Child::go_on() const { ::kill(id_, SIGCONT); }

bool Child::has_closed() {
  struct pollfd end {
    .fd = end_.get(), .events = POLLIN, .revents = 0
  };
  return ::poll(&end, 1, 0) == 1;
}

void Child::wait_for_close() {
  char unused = 0;
  BOOST_REQUIRE(::read(end_.get(), &unused, 1) == 0);
}

int Child::wait() {
  int status = 0;
  BOOST_REQUIRE(::waitpid(id_, &status, 0) == id_);
  id_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void sleep_for_ever() {
  for (;;) ::pause();
}

bool eventually(const std::function<bool()>& is_done) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (true) {
    // Looked at first: a process that was stopped has the time behind it, and the condition, too.
    const bool is_over = std::chrono::steady_clock::now() > end;
    if (is_done()) return true;
    if (is_over) return false;
    std::this_thread::sleep_for(50us);
  }
}

}  // namespace bellwether::io::test
