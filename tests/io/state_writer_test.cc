// Storing beside the event loop: nothing is lost, and no backlog grows.
#include "io/state/state_writer.hh"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "loop_run.hh"
#include "state_folder.hh"

using bellwether::MemberView;
using bellwether::Record;
using bellwether::io::FileError;
using bellwether::io::StateStore;
using bellwether::io::StateWriter;
using bellwether::io::test::FailingCalls;
using bellwether::io::test::TemporaryFolder;

namespace {

struct Fixture {
  TemporaryFolder folder;
  FailingCalls calls;
  StateStore store{folder.settings(), calls};
  bellwether::io::Loop loop;
  int records = 0;
  int views = 0;
  int errors = 0;
  std::vector<uint64_t> epochs;  // of the records that were told of
  StateWriter writer{loop, store,
                     [this](const Record& record, const auto& error) {
                       ++records;
                       epochs.push_back(record.max_epoch);
                       if (error) ++errors;
                     },
                     [this](const auto& error) {
                       ++views;
                       if (error) ++errors;
                     }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(state_writer, Fixture)

BOOST_AUTO_TEST_CASE(a_record_is_on_the_disk_when_it_says_so) {
  writer.store({.max_epoch = 7});
  BOOST_TEST(run_until(loop, [&] { return records == 1; }));
  BOOST_TEST(errors == 0);
  BOOST_TEST(store.record().max_epoch == 0);  // as it was found
}

BOOST_AUTO_TEST_CASE(of_what_waits_only_the_newest_is_written) {
  for (uint64_t epoch = 1; epoch <= 100; ++epoch) writer.store({.max_epoch = epoch});
  BOOST_TEST(run_until(loop, [&] { return records == 2; }));
  uv_run(loop.uv(), UV_RUN_DEFAULT);
  BOOST_TEST(epochs == (std::vector<uint64_t>{1, 100}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_record_that_could_not_be_written_is_tried_again_until_it_is) {
  calls.sync_error = EIO;
  writer.store({.max_epoch = 1});
  BOOST_TEST(run_until(loop, [&] { return records >= 3; }));
  BOOST_TEST(errors == records);
  calls.sync_error = 0;
  BOOST_TEST(run_until(loop, [&] { return records > errors; }));
  BOOST_TEST(epochs.back() == 1u);
}

BOOST_AUTO_TEST_CASE(the_newest_record_is_tried_again_and_no_older_one) {
  calls.sync_error = EIO;
  writer.store({.max_epoch = 1});
  BOOST_TEST(run_until(loop, [&] { return records == 1; }));
  writer.store({.max_epoch = 2});
  writer.store({.max_epoch = 3});
  calls.sync_error = 0;
  BOOST_TEST(run_until(loop, [&] { return records == 2; }));
  BOOST_TEST(epochs == (std::vector<uint64_t>{1, 3}), boost::test_tools::per_element());
}

// By somebody who tidies up: the next start would have no memory.
BOOST_AUTO_TEST_CASE(a_state_that_was_removed_is_made_anew) {
  std::vector<std::string> losses;
  writer.watch([&](const bellwether::io::FileLook& look) {
    if (!look.loss.empty()) losses.push_back(look.loss + look.flaw);
  });
  writer.store({.max_epoch = 7});
  BOOST_REQUIRE(run_until(loop, [this] { return records == 1; }));
  const auto file = folder.state() / "state";
  std::filesystem::remove(file);
  BOOST_TEST(run_until(loop, [&] { return losses.size() == 1; }));
  BOOST_TEST(std::filesystem::exists(file));
  writer.store({.max_epoch = 8});
  BOOST_REQUIRE(run_until(loop, [this] { return records == 2; }));
  const std::string stored = bellwether::io::test::read_file(file);
  std::filesystem::rename(folder.state(), folder.path() / "elsewhere");
  BOOST_TEST(run_until(loop, [&] { return losses.size() == 2; }));
  BOOST_TEST(losses.at(1).find("was taken away: its folder, or the lock in it") == 0u);
  BOOST_TEST(run_until(loop, [this] { return errors > 0; }));
  const int told = records;
  std::filesystem::rename(folder.path() / "elsewhere", folder.state());
  BOOST_TEST(run_until(loop, [&] { return records - errors > told - 1; }));
  BOOST_TEST(epochs.back() == 8u);
  BOOST_TEST(bellwether::io::test::read_file(file).size() == stored.size());
}

BOOST_AUTO_TEST_CASE(a_look_that_is_asked_for_during_a_write_comes_after_it) {
  int losses = 0;
  writer.watch([&](const bellwether::io::FileLook& look) { losses += look.loss.empty() ? 0 : 1; });
  writer.store({.max_epoch = 7});
  BOOST_REQUIRE(run_until(loop, [this] { return records == 1; }));
  std::filesystem::remove_all(folder.state());
  writer.store({.max_epoch = 8});
  bool is_time_for_the_next = false;
  bellwether::io::LoopTimer next(loop, [&] { is_time_for_the_next = true; });
  writer.look();
  next.arm(std::chrono::milliseconds(1900));
  BOOST_TEST(run_until(loop, [&] { return losses == 1; }));
  BOOST_TEST(!is_time_for_the_next);
  BOOST_TEST(std::filesystem::exists(folder.state() / "state"));
}

// While the disk is full: nothing that is written into a removed file will be found.
BOOST_AUTO_TEST_CASE(a_state_that_cannot_be_made_anew_is_not_stored) {
  writer.watch([](const bellwether::io::FileLook&) {});
  writer.store({.max_epoch = 7});
  BOOST_REQUIRE(run_until(loop, [this] { return records == 1; }));
  const auto file = folder.state() / "state";
  calls.sync_error = ENOSPC;
  std::filesystem::remove(file);
  BOOST_TEST(run_until(loop, [this] { return errors > 0; }));
  BOOST_TEST(epochs.back() == 7u);
  calls.sync_error = 0;
  BOOST_TEST(run_until(loop, [this] { return records > errors + 1; }));
  BOOST_TEST(epochs.back() == 7u);
  BOOST_TEST(std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(members_are_written_beside_the_record) {
  writer.store({.max_epoch = 1});
  writer.store_members(std::make_shared<const MemberView>(MemberView{.version = {1, 1}}));
  BOOST_TEST(run_until(loop, [&] { return records == 1 && views == 1; }));
  BOOST_TEST(errors == 0);
}

BOOST_AUTO_TEST_CASE(a_disk_that_fails_is_told) {
  calls.sync_error = EIO;
  writer.store({.max_epoch = 1});
  BOOST_TEST(run_until(loop, [&] { return errors == 1; }));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(state_writer_end)

BOOST_AUTO_TEST_CASE(a_write_that_outlives_its_writer_is_finished) {
  const TemporaryFolder folder;
  {
    StateStore store(folder.settings());
    bellwether::io::Loop loop;
    StateWriter writer(
        loop, store, [](const Record&, const auto&) { BOOST_ERROR("told"); }, [](const auto&) {});
    writer.store({.max_epoch = 9});
  }
  BOOST_TEST(StateStore(folder.settings()).record().max_epoch == 9);
}

BOOST_AUTO_TEST_SUITE_END()
