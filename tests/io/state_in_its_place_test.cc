// What somebody has put in the place of a folder that was deleted while its process runs: who is
// written over, and who is not.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "io/state/state_files.hh"
#include "io/state/state_store.hh"
#include "state_folder.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

constexpr Uuid kSomebody{{1}};
constexpr Uuid kAnother{{2}};
constexpr const char* kForbidden = "was deleted, and this process cannot make it anew (";
constexpr const char* kStrange = "was deleted, and the one in its place is not this process's";

std::string file_of(const Slot& slot) {
  const auto bytes = new_state_file(slot);
  return {bytes.begin(), bytes.end()};
}

// Another state of this process's id; returns what is in its file.
std::string put_in_its_place(const RunningStore& running, Slot slot) {
  slot.identity = running.store->identity();
  slot.group = "orders";
  running.remove();
  fs::create_directory(running.folder.state());
  write_file(running.folder.state() / "state", file_of(slot));
  return file_of(slot);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(state_in_its_place)

BOOST_FIXTURE_TEST_CASE(an_empty_folder_in_its_place_is_taken, RunningStore) {
  remove();
  fs::create_directory(folder.state());
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// Somebody has put a backup back.
BOOST_FIXTURE_TEST_CASE(an_own_copy_is_written_over, RunningStore) {
  copy_to("older");
  BOOST_REQUIRE(!store->store({.max_epoch = kEpoch + 1}));
  copy_to("equal");
  for (const char* copy : {"equal", "older"}) {
    remove();
    put_back(copy);
    BOOST_TEST(flaw() == "");
  }
  expect_whole(kEpoch + 1);
}

BOOST_FIXTURE_TEST_CASE(another_process_that_uses_the_new_folder_keeps_it, RunningStore) {
  remove();
  StateSettings settings = folder.settings();
  {
    StateStore other(settings);
    BOOST_TEST(flaw().find("is locked by another process") != std::string::npos);
    BOOST_TEST(!other.store({.max_epoch = 1}));
    BOOST_TEST(other.look().loss == "");
  }
  BOOST_TEST(flaw().find(kStrange) != std::string::npos);
  BOOST_TEST(store->store({.max_epoch = kEpoch + 1}).has_value());
  BOOST_TEST(!store->is_folder_refused());
  BOOST_TEST(StateStore(settings).record().max_epoch == 1u);
  remove();
  BOOST_TEST(flaw() == "");
  expect_whole();
}

BOOST_FIXTURE_TEST_CASE(what_is_not_known_to_be_its_own_is_not_written_over, RunningStore) {
  const std::string own_state = read_file(folder.state() / "state");
  const std::string own_id = read_file(folder.state() / "identity");
  const Slot other{.sequence = 1, .identity = {{1, 2}}, .group = "orders"};
  Slot of_another_group{.sequence = 1, .identity = store->identity(), .group = "billing"};
  const std::pair<const char*, std::string> strange[] = {
      {"state", file_of(other)},
      {"state", file_of(of_another_group)},
      {"state", std::string(own_state.size(), '\0')},
      {"state", own_state.substr(0, own_state.size() - 1)},
      {"identity", "6ba7b810-9dad-41d1-80b4-00c04fd430c8\n"},
      {"identity", ""},
  };
  for (const auto& [name, contents] : strange) {
    remove();
    fs::create_directory(folder.state());
    write_file(folder.state() / "state", own_state);
    write_file(folder.state() / "identity", own_id);
    write_file(folder.state() / name, contents);
    BOOST_TEST(flaw().starts_with(folder.state().string() + ": " + kStrange));
    BOOST_TEST(read_file(folder.state() / name) == contents);
  }
  remove();
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// Whoever has written it may have promised what this process does not know of; so it promises
// nothing any more, whatever becomes of that folder.
BOOST_AUTO_TEST_CASE(a_folder_of_this_id_that_knows_more_ends_the_promises_of_this_process) {
  constexpr uint64_t kEpoch = RunningStore::kEpoch;
  const Record before{.max_epoch = kEpoch, .granted_to = kSomebody};
  for (const Record& there :
       {Record{.max_epoch = kEpoch + 1}, Record{.max_epoch = kEpoch, .granted_to = kAnother}}) {
    RunningStore running;
    BOOST_REQUIRE(!running.store->store(before));
    const fs::path state = running.folder.state() / "state";
    const std::string newer = state.string() + ": is newer than what this process remembers";
    const std::string file = put_in_its_place(running, {.sequence = 1, .record = there});
    BOOST_TEST(running.flaw().starts_with(newer));
    BOOST_TEST((read_file(state) == file));
    running.remove();
    BOOST_TEST(running.flaw().starts_with(newer));
    BOOST_TEST(running.store->store({.max_epoch = kEpoch + 2}).has_value());
    BOOST_TEST(!fs::exists(running.folder.state()));
  }
}

BOOST_FIXTURE_TEST_CASE(a_vote_where_this_process_has_granted_none_is_more, RunningStore) {
  put_in_its_place(*this, {.sequence = 1, .record = {.max_epoch = kEpoch, .granted_to = kAnother}});
  BOOST_TEST(flaw().find("is newer than what this process remembers") != std::string::npos);
}

// However often its process has stored it.
BOOST_FIXTURE_TEST_CASE(a_folder_of_this_id_that_knows_no_more_is_written_over, RunningStore) {
  BOOST_REQUIRE(!store->store({.max_epoch = kEpoch, .granted_to = kSomebody}));
  for (const Record& there :
       {Record{.max_epoch = kEpoch, .granted_to = kSomebody}, Record{.max_epoch = kEpoch},
        Record{.max_epoch = kEpoch - 1, .granted_to = kAnother}}) {
    put_in_its_place(*this, {.sequence = 1000, .record = there});
    BOOST_TEST(flaw() == "");
  }
  expect_whole();
}

// A write that failed may be on the disk all the same.
BOOST_FIXTURE_TEST_CASE(a_copy_with_what_could_not_be_stored_is_its_own, RunningStore) {
  const Record next{.max_epoch = kEpoch + 1, .granted_to = kSomebody};
  calls.sync_error = EIO;
  BOOST_TEST(store->store(next).has_value());
  calls.sync_error = 0;
  copy_to("copy");
  remove();
  put_back("copy");
  BOOST_TEST(!store->store(next));
  expect_whole(kEpoch + 1);
}

BOOST_FIXTURE_TEST_CASE(only_what_is_forbidden_for_good_counts_as_refused, RunningStore) {
  BOOST_TEST(!store->store({.max_epoch = kEpoch}));
  remove();
  BOOST_TEST(!store->store({.max_epoch = kEpoch}));  // nobody has looked
  for (const int error : {EIO, ENOSPC, EMFILE, ENOENT, EACCES, ENOSPC, EPERM, EROFS}) {
    const bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;
    calls.folder_error = error;
    BOOST_TEST_CONTEXT("errno " << error) {
      BOOST_TEST((flaw().find(kForbidden) != std::string::npos) == is_forbidden);
      BOOST_TEST(store->is_folder_refused() == is_forbidden);
      BOOST_TEST(store->store({.max_epoch = kEpoch}).has_value());
      BOOST_TEST(store->is_folder_refused() == is_forbidden);
    }
  }
  calls.folder_error = 0;
  BOOST_TEST(flaw() == "");
  BOOST_TEST(!store->is_folder_refused());
  expect_whole();
}

// Somebody has made it, but it is for others, or on what may not be written to.
BOOST_FIXTURE_TEST_CASE(an_empty_folder_that_cannot_be_used_counts_as_none, RunningStore) {
  remove();
  fs::create_directory(folder.state());
  calls.open_error = EROFS;
  BOOST_TEST(flaw().find(kForbidden) != std::string::npos);
  BOOST_TEST(store->is_folder_refused());
  calls.open_error = 0;
  BOOST_TEST(flaw() == "");
  BOOST_TEST(!store->is_folder_refused());
  expect_whole();
}

// The next start would begin with it, and may be set back.
BOOST_FIXTURE_TEST_CASE(with_an_older_copy_in_its_place_that_cannot_be_used_it_stays,
                        RunningStore) {
  copy_to("older");
  remove();
  calls.folder_error = EROFS;
  calls.open_error = EROFS;
  BOOST_TEST(flaw() != "");
  BOOST_TEST(store->is_folder_refused());
  put_back("older");
  BOOST_TEST(flaw() == folder.state().string() +
                           ": was deleted, and this process cannot use what is in its place (" +
                           (folder.state() / "lock").string() +
                           " cannot be opened: Read-only file system); empty it, or delete that "
                           "one as well");
  BOOST_TEST(!store->is_folder_refused());
  remove();
  BOOST_TEST(flaw().find(kForbidden) != std::string::npos);
  BOOST_TEST(store->is_folder_refused());
}

// What is in it cannot be known; nor whether there is one, where the folder above is closed.
BOOST_FIXTURE_TEST_CASE(a_folder_that_cannot_be_looked_into_is_not_taken_for_none, RunningStore) {
  copy_to("older");
  remove();
  put_back("older");
  for (const fs::path& closed : {folder.state(), folder.path()}) {
    fs::permissions(folder.path(), fs::perms{0755});
    fs::permissions(closed, fs::perms::none);
    BOOST_TEST(in_another_process([&] {
                 if (::geteuid() == 0 && ::seteuid(kNobody) != 0) return 98;
                 const bool is_told = flaw().find("cannot use what is in its place") != flaw().npos;
                 return is_told && !store->is_folder_refused() ? 0 : 1;
               }) == 0,
               closed);
    fs::permissions(closed, fs::perms{0700});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
