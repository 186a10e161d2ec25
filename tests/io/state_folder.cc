// Folders in memory, children, and failing system calls.
#include "state_folder.hh"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace bellwether::io::test {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  // In memory, where a sync costs nothing.
  const fs::path parent = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
  std::string pattern = parent / "bellwether-test-XXXXXX";
  BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code unused;
  fs::remove_all(path_, unused);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  BOOST_REQUIRE(file.is_open());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << contents;
  BOOST_REQUIRE(file.flush().good());
}

FileError error_of(const StateSettings& settings, FileCalls& calls) {
  try {
    const StateStore store(settings, calls);
  } catch (const FileError& error) {
    BOOST_TEST(std::string(error.what()) ==
               error.path() + ": " + error.flaw() + "; " + error.remedy());
    return error;
  }
  BOOST_FAIL("the folder was accepted");
  std::abort();
}

int in_another_process(const std::function<int()>& action) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    int status = 99;
    try {
      status = action();
    } catch (...) {
      // The status says it.
    }
    ::_exit(status);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

int FailingCalls::outcome(int error, const std::function<int()>& call) {
  ++calls;
  if (error == 0) return call();
  errno = error;
  return -1;
}

int FailingCalls::make_folder(const char* path, mode_t mode) {
  return outcome(folder_error, [&] { return FileCalls::make_folder(path, mode); });
}

int FailingCalls::open(int folder, const char* name, int flags, mode_t mode) {
  if (open_error != 0 && (flags & O_ACCMODE) != O_RDONLY) {
    errno = open_error;
    return -1;
  }
  return FileCalls::open(folder, name, flags, mode);
}

ssize_t FailingCalls::write(int fd, std::span<const uint8_t> bytes, uint64_t offset) {
  return outcome(write_error, [&] {
    const auto part = bytes.first(std::min(bytes.size(), written_at_most));
    return static_cast<int>(FileCalls::write(fd, part, offset));
  });
}

int FailingCalls::sync_data(int fd) {
  return outcome(sync_error, [&] { return FileCalls::sync_data(fd); });
}

int FailingCalls::sync(int fd) {
  return outcome(sync_error, [&] { return FileCalls::sync(fd); });
}

int FailingCalls::rename(int folder, const char* from, const char* to) {
  return outcome(rename_error, [&] { return FileCalls::rename(folder, from, to); });
}

RunningStore::RunningStore() {
  BOOST_REQUIRE(!store->store({.max_epoch = kEpoch}));
  BOOST_REQUIRE(!store->store_members(view_of(3)));
}

void RunningStore::copy_to(const char* name) const {
  fs::copy(folder.state(), folder.path() / name, fs::copy_options::recursive);
}

void RunningStore::put_back(const char* name) const {
  fs::rename(folder.path() / name, folder.state());
}

void RunningStore::expect_whole(uint64_t epoch) {
  const FileLook look = store->look();
  BOOST_TEST(look.loss + look.flaw == "");
  BOOST_TEST(!store->has_failed());
  const Uuid id = store->identity();
  BOOST_TEST(read_file(folder.state() / "identity") == to_string(id) + "\n");
  store.reset();
  const StateStore next(folder.settings());
  BOOST_TEST(next.warnings().empty());
  BOOST_TEST((next.identity() == id));
  BOOST_TEST(next.record().max_epoch == epoch);
  BOOST_REQUIRE(next.members().has_value());
  BOOST_TEST(next.members()->version.epoch == 3u);
}

MemberView view_of(uint64_t epoch) { return {.version = {.epoch = epoch}}; }

}  // namespace bellwether::io::test
