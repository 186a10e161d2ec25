// A reader whose file was removed or replaced finds the new one by itself.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <iostream>
#include <optional>
#include <thread>
#include <vector>

#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {

BOOST_AUTO_TEST_SUITE(follow)

namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

FlagFileSettings at(const fs::path& path) { return {.path = path}; }

int error_of(const fs::path& path, std::optional<uid_t> owner = {}) {
  leader_flag flag{};
  const int error = owner ? leader_flag_open_of(path.c_str(), *owner, &flag)
                          : leader_flag_open(path.c_str(), &flag);
  leader_flag_close(&flag);
  return error;
}

bool is_root() {
  if (::geteuid() == 0) return true;
  std::cout << "cannot be judged here: only root can give files away\n";
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_reader_goes_from_a_removed_file_to_the_new_one) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer(std::in_place, at(folder.file()));
  writer->publish(leading(5));
  const Reader reader(folder.file());
  BOOST_TEST(reader.epoch() == 5u);
  writer.reset();
  fs::remove(folder.file());
  BOOST_TEST(!reader.is_leader());
  writer.emplace(at(folder.file()));
  writer->publish(leading(6));
  BOOST_TEST(eventually([&] { return reader.epoch() == 6; }));
}

BOOST_AUTO_TEST_CASE(one_who_waits_goes_there_too) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer(std::in_place, at(folder.file()));
  const Reader reader(folder.file());
  writer.reset();
  fs::remove(folder.file());
  writer.emplace(at(folder.file()));
  writer->publish(leading(6));
  leader_flag_snapshot seen = reader.snapshot();
  while (seen.role != LEADER_FLAG_LEADER) {
    constexpr uint64_t kPatienceNs = 10'000'000'000;
    BOOST_REQUIRE(leader_flag_wait(reader.get(), &seen, kPatienceNs) == 0);
    seen = reader.snapshot();
  }
  BOOST_TEST(seen.epoch == 6u);
}

BOOST_AUTO_TEST_CASE(while_somebody_vouches_for_its_file_a_reader_stays) {
  const ScratchFolder folder;
  FlagWriter writer(at(folder.file()));
  writer.publish(leading(5));
  const Reader reader(folder.file());
  fs::rename(folder.file(), folder.file("moved"));
  FlagWriter another(at(folder.file()));
  another.publish(leading(6));
  BOOST_TEST(reader.epoch() == 5u);
}

BOOST_AUTO_TEST_CASE(what_is_no_flag_to_believe_is_not_followed) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer(std::in_place, at(folder.file()));
  const Reader reader(folder.file());
  writer.reset();
  fs::rename(folder.file(), folder.file("moved"));
  BOOST_REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  BOOST_TEST(!reader.is_leader());
  writer.emplace(at(folder.file("moved")));
  writer->publish(leading(6));
  BOOST_TEST(reader.epoch() == 6u);
}

// ThreadSanitizer takes a mapping that is put in another one's place for a write to it.
#ifndef __SANITIZE_THREAD__

// Threads that read while the file is changed under them see one file or the other, never a bit of
// each: an epoch has its own leader's id.
BOOST_AUTO_TEST_CASE(nobody_reads_half_of_each) {
  const ScratchFolder folder;
  std::optional<FlagWriter> writer(std::in_place, at(folder.file()));
  const Reader reader(folder.file());
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> torn = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!is_over) {
        const leader_flag_snapshot seen = reader.snapshot();
        torn += seen.role == LEADER_FLAG_LEADER && id_in(seen) != id_of(seen.epoch);
      }
    });
  }
  for (uint64_t epoch = 1; epoch <= 4; ++epoch) {
    writer.reset();
    fs::remove(folder.file());
    writer.emplace(at(folder.file()));
    writer->publish(leading(epoch));
    BOOST_TEST(eventually([&] { return reader.epoch() == epoch; }));
  }
  is_over = true;
  for (std::thread& thread : readers) thread.join();
  BOOST_TEST(torn == 0u);
}

#endif

BOOST_AUTO_TEST_CASE(a_strangers_file_is_not_believed_and_one_of_whom_is_named_is) {
  if (!is_root()) return;
  const ScratchFolder folder;
  make_flag(folder.file());
  BOOST_REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  BOOST_REQUIRE(::chmod(folder.file().c_str(), 0644) == 0);
  BOOST_REQUIRE(::chown(folder.file().c_str(), kNobody, kNobody) == 0);
  BOOST_TEST(error_of(folder.file()) == LEADER_FLAG_NOT_TRUSTED);
  BOOST_TEST(error_of(folder.file(), kNobody - 1) == LEADER_FLAG_NOT_TRUSTED);
  BOOST_TEST(error_of(folder.file(), kNobody) == 0);
  // To somebody else: root's is good for all, nobody's for nobody alone.
  BOOST_REQUIRE(::seteuid(kNobody) == 0);
  BOOST_TEST(error_of(folder.file()) == 0);
  BOOST_REQUIRE(::seteuid(0) == 0);
}

BOOST_AUTO_TEST_CASE(the_owner_of_a_folder_that_root_gave_him_is_believed) {
  if (!is_root()) return;
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "run";
  const fs::path file = folder / "flag";
  make_flag(file);
  for (const fs::path& path : {folder, file}) {
    BOOST_REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);
  }
  BOOST_TEST(error_of(file) == 0);
  BOOST_REQUIRE(::chmod(folder.c_str(), 0775) == 0);
  BOOST_TEST(error_of(file) == LEADER_FLAG_NOT_TRUSTED, "its group can put files there");
  BOOST_REQUIRE(::chmod(folder.c_str(), 0755) == 0);
  BOOST_REQUIRE(::chmod(scratch.path().c_str(), 01777) == 0);
  BOOST_TEST(error_of(file) == LEADER_FLAG_NOT_TRUSTED, "anybody could have made the folder");
  BOOST_REQUIRE(::chmod(scratch.path().c_str(), 0700) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
