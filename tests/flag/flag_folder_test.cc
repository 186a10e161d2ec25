// In whose folder the sidecar keeps its flag, and in whose it does not.
#include "io/flag/flag_folder.hh"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <iostream>

#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSidecar = 5555;
constexpr uid_t kStranger = 4444;

bool is_fit(uid_t owner, mode_t mode, bool is_shared = false) {
  struct stat folder {};
  folder.st_uid = owner;
  folder.st_mode = S_IFDIR | mode;
  return flag_folder_flaw(folder, kSidecar, is_shared).empty();
}

std::string refusal_of(const FlagFileSettings& settings) {
  try {
    const FlagWriter writer(settings);
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(folder)

BOOST_AUTO_TEST_CASE(is_roots_or_the_sidecars_own) {
  BOOST_TEST(is_fit(0, 0755));
  BOOST_TEST(is_fit(kSidecar, 0750));
  for (const bool is_shared : {false, true}) {
    BOOST_TEST(!is_fit(kStranger, 0755, is_shared));
    BOOST_TEST(!is_fit(kStranger, 0777, is_shared));
    BOOST_TEST(!is_fit(kStranger, 01777, is_shared));
  }
}

BOOST_AUTO_TEST_CASE(is_written_by_no_other_unless_it_is_sticky_or_said_to_be_shared) {
  BOOST_TEST(!is_fit(0, 0777));
  BOOST_TEST(!is_fit(0, 02777));
  BOOST_TEST(!is_fit(0, 0775));
  BOOST_TEST(!is_fit(kSidecar, 0707));
  BOOST_TEST(is_fit(0, 01777));
  BOOST_TEST(is_fit(0, 02777, true));
}

BOOST_AUTO_TEST_CASE(one_that_others_can_write_is_refused_with_the_remedy) {
  const ScratchFolder scratch;
  const fs::path flag = scratch.path() / "open" / "flag";
  fs::create_directory(flag.parent_path());
  BOOST_REQUIRE(::chmod(flag.parent_path().c_str(), 0777) == 0);
  const std::string refusal = refusal_of({.path = flag});
  BOOST_TEST_CONTEXT(refusal) {
    BOOST_TEST(refusal.starts_with(flag.string() + ": "));
    BOOST_TEST(has(refusal, "can be written by others (mode 0777)"));
    BOOST_TEST(has(refusal, "flag.shared_folder"));
  }
  BOOST_TEST(!fs::exists(flag));
  BOOST_TEST(refusal_of({.path = flag, .is_folder_shared = true}) == "");
}

BOOST_AUTO_TEST_CASE(a_symbolic_link_is_refused) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path() / "real");
  fs::create_directory_symlink("real", scratch.path() / "link");
  const std::string refusal = refusal_of({.path = scratch.path() / "link" / "flag"});
  BOOST_TEST(has(refusal, "its folder is a symbolic link"), refusal);
  BOOST_TEST(fs::is_empty(scratch.path() / "real"));
}

BOOST_AUTO_TEST_CASE(a_strangers_is_refused) {
  if (::geteuid() != 0) {
    std::cout << "cannot be judged here: only root can give folders away\n";
    return;
  }
  const ScratchFolder scratch;
  const fs::path flag = scratch.path() / "his" / "flag";
  fs::create_directory(flag.parent_path());
  BOOST_REQUIRE(::chown(flag.parent_path().c_str(), kStranger, kStranger) == 0);
  const std::string refusal = refusal_of({.path = flag});
  BOOST_TEST(has(refusal, "its folder belongs to user 4444"), refusal);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
