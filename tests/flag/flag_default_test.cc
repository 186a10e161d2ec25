// Where the flag lies unless somebody says where, on a host that has folders of others, too.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iostream>

#include "flag_harness.hh"
#include "io/flag/flag_folder.hh"

namespace bellwether::io::test {
namespace default_place {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kRoot = 0;
constexpr uid_t kSidecar = 5555;
constexpr uid_t kService = 4444;

struct Host {
  Host() { fs::permissions(scratch.path(), fs::perms(0755)); }

  void make_folder(const fs::path& path, uid_t owner, int mode = 0755) const {
    fs::create_directory(path);
    fs::permissions(path, fs::perms(mode));
    own(path, owner);
  }
  void make_flag(const fs::path& folder, uid_t owner) const {
    if (!fs::exists(folder)) make_folder(folder, owner);
    std::ofstream(folder / "orders").flush();
    own(folder / "orders", owner);
  }
  static void own(const fs::path& path, uid_t owner) {
    BOOST_REQUIRE(::chown(path.c_str(), owner, owner) == 0);
  }

  std::string of(uid_t user, bool is_shared = false) const {
    return default_flag_folder("orders", user, is_shared, folders);
  }
  // What a command prints.
  std::string seen_by(uid_t onlooker) const {
    return of(user_of_sidecar("orders", onlooker, folders));
  }

  ScratchFolder scratch{};
  FlagFolders folders{.run = scratch.path() / "run", .shm = scratch.path() / "shm"};
};

bool is_root() {
  if (::geteuid() == 0) return true;
  std::cout << "cannot be judged here: only root can be several users\n";
  return false;
}

}  // namespace
}  // namespace default_place

BOOST_FIXTURE_TEST_SUITE(default_place, default_place::Host)

BOOST_AUTO_TEST_CASE(is_shared_memory_where_there_is_nothing_else) {
  BOOST_TEST(of(kSidecar) == folders.shm);
  BOOST_TEST(of(kRoot) == folders.shm);
}

BOOST_AUTO_TEST_CASE(is_the_folder_that_a_service_manager_has_made) {
  if (!is_root()) return;
  make_folder(folders.run, kService);
  BOOST_TEST(of(kService) == folders.run);
  BOOST_TEST(seen_by(kRoot) == folders.run);
  make_flag(folders.run, kService);
  BOOST_TEST(seen_by(kRoot) == folders.run);
  BOOST_TEST(seen_by(kSidecar) == folders.run);
}

// Another service's folder may appear at any time: with it the start would fail.
BOOST_AUTO_TEST_CASE(is_no_folder_of_others) {
  if (!is_root()) return;
  make_folder(folders.run, kService);
  BOOST_TEST(of(kSidecar) == folders.shm);
  BOOST_TEST(of(kRoot) == folders.shm);
  make_flag(folders.shm, kSidecar);
  BOOST_TEST(of(kSidecar) == folders.shm);
  for (const uid_t onlooker : {kRoot, kSidecar, kService}) {
    BOOST_TEST(seen_by(onlooker) == folders.shm);
  }
}

BOOST_AUTO_TEST_CASE(is_no_folder_that_the_user_cannot_write) {
  if (!is_root()) return;
  make_folder(folders.run, kRoot);
  BOOST_TEST(of(kSidecar) == folders.shm);
  BOOST_TEST(of(kRoot) == folders.run);
  fs::permissions(folders.run, fs::perms(0777));
  BOOST_TEST(of(kSidecar) == folders.shm, "others could put another flag in its place");
  BOOST_TEST(of(kSidecar, true) == folders.run, "a pod's emptyDir");
  fs::remove(folders.run);
  fs::create_directory_symlink(scratch.path(), folders.run);
  BOOST_TEST(of(kRoot) == folders.shm);
}

// Applications have it mapped.
BOOST_AUTO_TEST_CASE(is_where_the_flag_lies_already) {
  if (!is_root()) return;
  make_flag(folders.shm, kRoot);
  make_folder(folders.run, kRoot);
  BOOST_TEST(of(kRoot) == folders.shm);
  BOOST_TEST(seen_by(kSidecar) == folders.shm);
}

// The start says what is wrong with the folder; elsewhere nobody would look for the flag.
BOOST_AUTO_TEST_CASE(is_where_the_flag_lies_even_when_the_folder_has_been_spoiled) {
  if (!is_root()) return;
  make_flag(folders.run, kSidecar);
  fs::permissions(folders.run, fs::perms(0777));
  BOOST_TEST(of(kSidecar) == folders.run);
  BOOST_TEST(seen_by(kRoot) == folders.run);
}

// Anybody may make a folder in /dev/shm.
BOOST_AUTO_TEST_CASE(is_not_moved_by_a_strangers_flag) {
  if (!is_root()) return;
  make_folder(folders.run, kService);
  make_flag(folders.shm, kSidecar);
  BOOST_TEST(of(kService) == folders.run);
  own(fs::path(folders.shm) / "orders", kService);
  BOOST_TEST(of(kService) == folders.run, "nor by a link in a stranger's folder");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
