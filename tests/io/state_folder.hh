// A folder for one test of the state store, a disk that does as the test wants, and a store that
// runs.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "io/state/locked_folder.hh"
#include "io/state/state_store.hh"

namespace bellwether::io::test {

inline constexpr uid_t kNobody = 65534;

// Made empty, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The state folder in it; not there yet.
  std::filesystem::path state() const { return path_ / "state.d"; }
  StateSettings settings() const { return {.folder = state(), .group = "orders"}; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& contents);

// What StateStore's constructor threw; fails the test when it threw nothing.
FileError error_of(const StateSettings& settings, FileCalls& calls = system_calls());

// Runs `action` in a process of its own and returns its exit status; 99 when it threw.
int in_another_process(const std::function<int()>& action);

// Calls that fail when they are told to: 0 or an errno.
class FailingCalls : public FileCalls {
 public:
  int folder_error = 0;  // of folders that are made
  int open_error = 0;    // of files that are opened for writing
  int write_error = 0;
  size_t written_at_most = SIZE_MAX;
  int sync_error = 0;
  int rename_error = 0;
  std::atomic<int> calls = 0;  // all but open; from several threads of the pool

  int make_folder(const char* path, mode_t mode) override;
  int open(int folder, const char* name, int flags, mode_t mode) override;
  ssize_t write(int fd, std::span<const uint8_t> bytes, uint64_t offset) override;
  int sync_data(int fd) override;
  int sync(int fd) override;
  int rename(int folder, const char* from, const char* to) override;

 private:
  int outcome(int error, const std::function<int()>& call);
};

// A process that has stored an epoch and a list, and keeps on running.
struct RunningStore {
  static constexpr uint64_t kEpoch = 7;

  RunningStore();

  void remove() const { std::filesystem::remove_all(folder.state()); }
  void copy_to(const char* name) const;
  void put_back(const char* name) const;
  std::string flaw() const { return store->look().flaw; }
  // The folder is as it was, and the next process finds all of it; ends this one.
  void expect_whole(uint64_t epoch = kEpoch);

  TemporaryFolder folder;
  FailingCalls calls;
  std::unique_ptr<StateStore> store = std::make_unique<StateStore>(folder.settings(), calls);
};

MemberView view_of(uint64_t epoch);

}  // namespace bellwether::io::test
