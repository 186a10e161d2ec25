// What the tests of the flag share: a folder on a tmpfs, publications that can be checked, a reader
// that closes itself, and children that can be killed.
#pragma once

#include <bellwether/leader_flag.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "core/effects.hh"
#include "io/flag/held_flag.hh"
#include "io/loop/files.hh"

namespace bellwether::io::test {

using namespace std::chrono_literals;

// An empty folder of its own, gone at the end.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent = "/dev/shm");
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const char* name = "flag") const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// An id that belongs to this epoch alone, so that a torn state gives itself away.
Uuid id_of(uint64_t epoch);
Uuid id_in(const leader_flag_snapshot& snapshot);

// On the clock of the flag.
Instant from_now(Duration duration);

// What the core publishes.
Publish leading(uint64_t epoch, Duration valid_for = 1h);
Publish following(uint64_t epoch);

// Makes the file, so that a reader can open it before there is a sidecar.
void make_flag(const std::filesystem::path& path);

// An open flag; a test fails when it cannot be opened.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);
  ~Reader() { leader_flag_close(&flag_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const leader_flag* get() const { return &flag_; }
  bool is_leader() const { return leader_flag_is_leader(&flag_, nullptr); }
  uint64_t epoch() const;  // 0: does not lead
  leader_flag_snapshot snapshot() const;

 private:
  leader_flag flag_{};
};

// A line in memory that says "leader, in epoch 7", held by nobody in particular.
class Line {
 public:
  Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  leader_flag_line line{};
  leader_flag flag{};
};

inline constexpr uint32_t kSomeThread = 4711;
inline constexpr uint64_t kSomeBoot = 0xb007;

// A forked process.  `life` must not use the test framework, nor return normally before its work is
// done; returning ends the process without any destructor of the parent's objects.
class Child {
 public:
  explicit Child(const std::function<void()>& life);
  ~Child();  // kills it, if need be
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() const;  // SIGKILL; does not wait
  void stop() const;  // SIGSTOP; returns when it stands still
  void go_on() const;
  bool has_closed();  // its files and sockets are closed, as a peer sees it
  void wait_for_close();
  int wait();  // for its end; its exit code, negative when it was killed

 private:
  pid_t id_ = 0;
  FileDescriptor end_;  // of a pipe whose other end only the child has
};

// Runs on until it is killed.
[[noreturn]] void sleep_for_ever();

// False when `is_done` has not become true within ten seconds.
bool eventually(const std::function<bool()>& is_done);

}  // namespace bellwether::io::test
