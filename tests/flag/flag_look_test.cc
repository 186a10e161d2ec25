// The sidecar looks whether applications find its flag, and makes them find it.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {
namespace look {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 4444;

struct stat status_of(const fs::path& path) {
  struct stat status {};
  BOOST_REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

struct LookingWriter {
  LookingWriter() { writer.publish(leading(5)); }

  ScratchFolder folder{};
  fs::path path = folder.path() / "bellwether" / "flag";
  FlagWriter writer{{.path = path, .guard = LEADER_FLAG_GUARD_MAJORITY}};
};

}  // namespace
}  // namespace look

BOOST_FIXTURE_TEST_SUITE(look, look::LookingWriter)

BOOST_AUTO_TEST_CASE(a_file_in_its_place_is_left_alone) {
  const Reader reader(path);
  const uint32_t seq = reader.snapshot().seq;
  const FileLook look = writer.look();
  BOOST_TEST(look.loss == "");
  BOOST_TEST(look.flaw == "");
  BOOST_TEST(reader.snapshot().seq == seq);
}

BOOST_AUTO_TEST_CASE(a_removed_file_is_made_again_and_says_the_same) {
  const Reader old(path);
  const leader_flag_snapshot before = old.snapshot();
  fs::remove(path);
  const FileLook look = writer.look();
  BOOST_TEST(look.loss == "was removed");
  BOOST_TEST(look.flaw == "");
  const leader_flag_snapshot after = Reader(path).snapshot();
  BOOST_TEST(after.role == LEADER_FLAG_LEADER);
  BOOST_TEST(after.epoch == before.epoch);
  BOOST_TEST(after.valid_until_ns == before.valid_until_ns);
  BOOST_TEST(after.guard == LEADER_FLAG_GUARD_MAJORITY);
  BOOST_TEST(after.seq > before.seq);
  BOOST_TEST(writer.look().loss == "");
  writer.publish(leading(6));
  BOOST_TEST(Reader(path).epoch() == 6u);
  BOOST_TEST(eventually([&] { return old.epoch() == 6; }), "its reader has found the new one");
}

// By somebody who may: its owner, or root.  What is published meanwhile ends nobody by SIGBUS.
BOOST_AUTO_TEST_CASE(a_file_that_was_spoiled_in_its_place_is_made_again) {
  const auto write_over = [&](const std::string& bytes) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
  };
  const auto cut_for_a_moment = [&] {
    fs::resize_file(path, 0);
    writer.publish(leading(6));
    fs::resize_file(path, LEADER_FLAG_FILE_BYTES);
  };
  const std::vector<std::pair<std::function<void()>, std::string>> ways{
      {[&] { fs::resize_file(path, 0); }, "was cut short"},
      {[&] { fs::resize_file(path, 100); }, "was cut short"},
      {cut_for_a_moment, "was cut short"},
      {[&] { fs::resize_file(path, 8192); }, "was made longer"},
      {[&] { std::ofstream(path) << "hello"; }, "was cut short"},
      {[&] { write_over(std::string(LEADER_FLAG_FILE_BYTES, '\0')); }, "was written over"},
      {[&] { write_over("hello"); }, "was written over"},
  };
  for (const auto& [spoil, loss] : ways) {
    writer.publish(leading(5));
    spoil();
    writer.publish(leading(7));
    const FileLook look = writer.look();
    BOOST_TEST(look.loss == loss);
    BOOST_TEST(look.flaw == "");
    BOOST_TEST(Reader(path).epoch() == 7u);
    BOOST_TEST(writer.look().loss == "");
    writer.publish(leading(8));
    BOOST_TEST(Reader(path).epoch() == 8u);
    BOOST_TEST(writer.look().loss == "");
  }
}

// Whoever cannot find the new file, because he does not look, must not go on for ever.
BOOST_AUTO_TEST_CASE(the_old_file_is_off_then) {
  leader_flag old{};
  BOOST_REQUIRE(leader_flag_open(path.c_str(), &old) == 0);
  const leader_flag blind{.line = old.line, .boot_id_hash = old.boot_id_hash, .place = nullptr};
  BOOST_TEST(leader_flag_is_leader(&blind, nullptr));
  fs::remove(path);
  writer.look();
  BOOST_TEST(!leader_flag_is_leader(&blind, nullptr));
  BOOST_TEST(blind.line->owner == 0u);
  leader_flag_close(&old);
}

// Who has the old one mounted, in a container, will not find the file.
BOOST_AUTO_TEST_CASE(a_removed_folder_is_made_again_too_and_told_of) {
  fs::remove(path);
  BOOST_TEST(!writer.look().is_folder_new);
  fs::remove_all(path.parent_path());
  const FileLook look = writer.look();
  BOOST_TEST(look.loss == "was removed");
  BOOST_TEST(look.is_folder_new);
  BOOST_TEST(Reader(path).epoch() == 5u);
}

BOOST_AUTO_TEST_CASE(a_file_that_lost_its_mode_gets_it_back) {
  const auto reader = std::make_unique<Reader>(path);
  BOOST_REQUIRE(::chmod(path.c_str(), 0600) == 0);
  const FileLook look = writer.look();
  BOOST_TEST(look.loss == "had its mode changed to 0600");
  BOOST_TEST(look.flaw == "");
  BOOST_TEST((status_of(path).st_mode & 07777) == 0640u);
  BOOST_TEST(writer.look().loss == "");
  BOOST_TEST(reader->epoch() == 5u, "it is the same file");
}

BOOST_AUTO_TEST_CASE(a_file_that_was_given_away_is_made_again) {
  if (::geteuid() != 0) {
    std::cout << "cannot be judged here: only root can give files away\n";
    return;
  }
  BOOST_REQUIRE(::chown(path.c_str(), kStranger, kStranger) == 0);
  const FileLook look = writer.look();
  BOOST_TEST(look.loss == "was given to user 4444");
  BOOST_TEST(look.flaw == "");
  BOOST_TEST(status_of(path).st_uid == ::geteuid());
  BOOST_TEST(Reader(path).epoch() == 5u);
  BOOST_TEST(writer.look().loss == "");
}

// Nobody but whoever changed it knows whether that was meant, so it is told and not undone.
BOOST_AUTO_TEST_CASE(a_folder_that_is_not_as_it_was_is_told) {
  const fs::path home = path.parent_path();
  const auto expect_flaw = [&](const std::string& words) {
    for (int again = 0; again < 2; ++again) {
      const FileLook look = writer.look();
      BOOST_TEST(look.loss == "cannot be opened, or trusted, by all who could");
      BOOST_TEST(look.flaw.starts_with(path.string() + ": "), look.flaw);
      BOOST_TEST(look.flaw.find(words) != std::string::npos, look.flaw);
      BOOST_TEST(look.flaw.find("; ") != std::string::npos, "says what to do");
    }
    BOOST_REQUIRE(::chmod(home.c_str(), 0755) == 0);
    BOOST_TEST(writer.look().loss == "");
  };
  BOOST_REQUIRE(::chmod(home.c_str(), 0777) == 0);
  expect_flaw("its folder can be written by others (mode 0777)");
  BOOST_REQUIRE(::chmod(home.c_str(), 0700) == 0);
  expect_flaw("its folder was closed to others (mode 0700)");
  BOOST_TEST(Reader(path).epoch() == 5u);
  BOOST_REQUIRE(::chmod(home.c_str(), 0711) == 0);
  BOOST_TEST(writer.look().loss == "", "that is enough to find the file");
}

BOOST_AUTO_TEST_CASE(a_replaced_file_that_is_no_flag_is_told_and_left_alone) {
  const Reader old(path);
  fs::remove(path);
  std::ofstream(path) << "precious";
  for (int again = 0; again < 2; ++again) {
    const FileLook look = writer.look();
    BOOST_TEST(look.loss == "was replaced by another file");
    BOOST_TEST(look.flaw.find("which no leader flag has") != std::string::npos, look.flaw);
  }
  BOOST_TEST(fs::file_size(path) == 8u);
  BOOST_TEST(old.epoch() == 5u, "who has the flag mapped still reads it");
  fs::remove(path);
  BOOST_TEST(writer.look().flaw == "");
  BOOST_TEST(Reader(path).epoch() == 5u);
}

BOOST_AUTO_TEST_CASE(another_sidecars_flag_is_not_taken) {
  fs::remove(path);
  std::optional<FlagWriter> another(std::in_place, FlagFileSettings{.path = path});
  another->publish(leading(7));
  BOOST_TEST(writer.look().flaw.find("is in use by another process") != std::string::npos);
  BOOST_TEST(Reader(path).epoch() == 7u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
