// Which files the sidecar takes for its flag, and what it says of others.
#include "io/flag/flag_file.hh"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iostream>
#include <optional>

#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

// What the operator reads; empty: the file is taken.
std::string refusal_of(const fs::path& path) {
  try {
    const FlagWriter writer({.path = path});
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

// Whether it may be over at another start, though nobody does anything about it.
bool may_pass(const fs::path& path) {
  try {
    const FlagWriter writer({.path = path});
    BOOST_ERROR("it is taken");
    return false;
  } catch (const FileError& error) {
    return error.may_pass();
  }
}

void write_file(const fs::path& path, const std::string& contents) {
  std::ofstream(path) << contents;
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  BOOST_REQUIRE(::stat(path.c_str(), &status) == 0);
  return status;
}

const std::string kNoFlag(LEADER_FLAG_FILE_BYTES, 'x');

}  // namespace

#define EXPECT_REFUSAL(path, words)                                                     \
  do {                                                                                  \
    const std::string refusal = refusal_of(path);                                       \
    BOOST_TEST_CONTEXT(refusal) {                                                       \
      BOOST_TEST(refusal.starts_with((path).string() + ": "), "names the file");        \
      BOOST_TEST(refusal.find(words) != std::string::npos, "says that it " << (words)); \
      BOOST_TEST(refusal.find("; ") != std::string::npos, "says what to do");           \
    }                                                                                   \
  } while (false)

BOOST_AUTO_TEST_SUITE(file)

// Hardened hosts, and the unit that comes with the sidecar, have a umask of 077.
BOOST_AUTO_TEST_CASE(its_folder_is_open_to_readers_whatever_the_umask_is) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "made" / "flag";
  const mode_t before = ::umask(077);
  { const FlagFile file({.path = path}); }
  ::umask(before);
  BOOST_TEST((status_of(path.parent_path()).st_mode & 07777) == 0755u);
}

BOOST_AUTO_TEST_CASE(is_made_with_its_folder_its_length_and_its_mode) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "bellwether" / "orders";
  {
    const FlagFile file({.path = path});
    BOOST_TEST(status_of(path).st_size == LEADER_FLAG_FILE_BYTES);
    BOOST_TEST((status_of(path).st_mode & 07777) == 0640u);
    BOOST_TEST(file.is_in_memory());
  }
  const FlagFile file({.path = path, .mode = 0604});
  BOOST_TEST((status_of(path).st_mode & 07777) == 0604u);
}

BOOST_AUTO_TEST_CASE(stays_the_same_file_across_restarts) {
  const ScratchFolder folder;
  const fs::path path = folder.file();
  ino_t first = 0;
  for (int restart = 0; restart < 3; ++restart) {
    FlagWriter writer({.path = path});
    writer.publish(leading(1));
    if (restart == 0) first = status_of(path).st_ino;
    BOOST_TEST(status_of(path).st_ino == first);
    BOOST_TEST(status_of(path).st_size == LEADER_FLAG_FILE_BYTES);
  }
}

BOOST_AUTO_TEST_CASE(what_a_first_start_left_behind_when_it_died_is_taken) {
  const ScratchFolder folder;
  write_file(folder.file(), "");
  BOOST_TEST(refusal_of(folder.file()) == "");
  write_file(folder.file("zeros"), std::string(LEADER_FLAG_FILE_BYTES, '\0'));
  BOOST_TEST(refusal_of(folder.file("zeros")) == "");
}

BOOST_AUTO_TEST_CASE(a_symbolic_link_is_refused) {
  const ScratchFolder folder;
  write_file(folder.file("target"), kNoFlag);
  fs::create_symlink(folder.file("target"), folder.file());
  EXPECT_REFUSAL(folder.file(), "is a symbolic link");
  fs::remove(folder.file("target"));
  EXPECT_REFUSAL(folder.file(), "is a symbolic link");
  BOOST_TEST(!fs::exists(folder.file("target")));
}

BOOST_AUTO_TEST_CASE(a_file_with_a_second_name_is_refused) {
  const ScratchFolder folder;
  BOOST_TEST(refusal_of(folder.file()) == "");
  fs::create_hard_link(folder.file(), folder.file("second"));
  EXPECT_REFUSAL(folder.file(), "has 2 names (hard links), not one");
}

BOOST_AUTO_TEST_CASE(a_folder_is_refused) {
  const ScratchFolder folder;
  EXPECT_REFUSAL(folder.path(), "is a folder");
}

BOOST_AUTO_TEST_CASE(a_pipe_is_refused_instead_of_waited_for) {
  const ScratchFolder folder;
  BOOST_REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  EXPECT_REFUSAL(folder.file(), "is not a regular file");
}

BOOST_AUTO_TEST_CASE(a_file_of_another_length_is_refused_and_not_touched) {
  const ScratchFolder folder;
  write_file(folder.file(), "precious");
  EXPECT_REFUSAL(folder.file(), "has 8 bytes, which no leader flag has");
  BOOST_TEST(status_of(folder.file()).st_size == 8);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_flag_is_refused_and_not_touched) {
  const ScratchFolder folder;
  write_file(folder.file(), kNoFlag);
  EXPECT_REFUSAL(folder.file(), "is not a leader flag");
  BOOST_TEST(!may_pass(folder.file()));
  std::string contents;
  std::ifstream(folder.file()) >> contents;
  BOOST_TEST(contents == kNoFlag);
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_refused) {
  if (::geteuid() != 0) {
    std::cout << "cannot be judged here: only root can give files away\n";
    return;
  }
  const ScratchFolder folder;
  write_file(folder.file(), "");
  BOOST_REQUIRE(::chown(folder.file().c_str(), kNobody, kNobody) == 0);
  EXPECT_REFUSAL(folder.file(), "belongs to user 65534, this process to user 0");
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written_to_is_an_error) {
  const ScratchFolder folder;
  const bool is_root = ::geteuid() == 0;
  BOOST_REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  if (is_root) BOOST_REQUIRE(::seteuid(kNobody) == 0);
  EXPECT_REFUSAL(folder.file(), "cannot be opened: Permission denied");
  if (is_root) BOOST_REQUIRE(::seteuid(0) == 0);
}

BOOST_AUTO_TEST_CASE(a_missing_folder_above_its_folder_is_an_error) {
  const ScratchFolder folder;
  EXPECT_REFUSAL(folder.path() / "a" / "b" / "flag", "cannot be opened: No such file");
}

BOOST_AUTO_TEST_CASE(a_second_writer_is_refused_and_told_who_the_first_is) {
  const ScratchFolder folder;
  std::optional<FlagWriter> first;
  first.emplace(FlagFileSettings{.path = folder.file()});
  first->publish(leading(3));
  const Reader reader(folder.file());
  const std::string holder = std::to_string(reader.get()->line->owner);
  EXPECT_REFUSAL(folder.file(), "is in use by another process (thread " + holder + ")");
  BOOST_TEST(may_pass(folder.file()));
  BOOST_TEST(reader.epoch() == 3u);
  first.reset();
  BOOST_TEST(refusal_of(folder.file()) == "");
}

// The sanitizers' mlock() locks nothing and finds nothing wrong.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// On a host that swaps, the kernel could not mark the owner of a page that it must first read back.
BOOST_AUTO_TEST_CASE(its_page_is_locked_in_memory) {
  const ScratchFolder folder;
  const auto locked_kib = []() -> uint64_t {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      uint64_t kib = 0;
      if (word == "VmLck:" && status >> kib) return kib;
    }
    return 0;
  };
  const uint64_t before_kib = locked_kib();
  const FlagFile file({.path = folder.file()});
  BOOST_TEST(file.lock_flaw() == 0);
  BOOST_TEST(locked_kib() > before_kib);
}

BOOST_AUTO_TEST_CASE(a_page_that_cannot_be_locked_is_worth_a_warning) {
  if (::geteuid() != 0) {
    std::cout << "cannot be judged here: only root can be somebody else\n";
    return;
  }
  const ScratchFolder folder;
  BOOST_REQUIRE(::chown(folder.path().c_str(), kNobody, kNobody) == 0);
  struct rlimit before {};
  BOOST_REQUIRE(::getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  const struct rlimit nothing { .rlim_cur = 0, .rlim_max = before.rlim_max };
  BOOST_REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &nothing) == 0);
  BOOST_REQUIRE(::seteuid(kNobody) == 0);
  const FlagWriter writer({.path = folder.file()});
  BOOST_REQUIRE(::seteuid(0) == 0);
  BOOST_REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &before) == 0);
  BOOST_REQUIRE(writer.warnings().size() == 1u);
  BOOST_TEST(writer.warnings().front().find("cannot be locked in memory") != std::string::npos);
}

#endif

BOOST_AUTO_TEST_CASE(a_file_on_a_disk_is_worth_a_warning) {
  const ScratchFolder in_memory;
  BOOST_TEST(FlagWriter({.path = in_memory.file()}).warnings().empty());
  const ScratchFolder folder(fs::current_path());
  const FlagFile file({.path = folder.file("other")});
  if (file.is_in_memory()) {
    std::cout << "cannot be judged here: there is no disk here\n";
    return;
  }
  const FlagWriter writer({.path = folder.file()});
  BOOST_TEST(writer.warnings().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
