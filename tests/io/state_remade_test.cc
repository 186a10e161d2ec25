// A folder that is deleted while its process runs is made anew, with all that was in it; but never
// over what somebody else has put in its place.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <memory>
#include <thread>

#include "io/state/state_files.hh"
#include "io/state/state_store.hh"
#include "state_folder.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEpoch = 7;
constexpr Uuid kSomebody{{1}};
constexpr Uuid kAnother{{2}};
constexpr const char* kFolderLost =
    "was taken away: its folder, or the lock in it, was removed or moved";
constexpr const char* kStrange = "was deleted, and the one in its place is not this process's";

ino_t number_of(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? status.st_ino : 0;
}

bool is_open(ino_t number) {
  const fs::directory_iterator files("/proc/self/fd");
  return std::any_of(begin(files), end(files),
                     [&](const auto& file) { return number_of(file) == number; });
}

std::string file_of(const Slot& slot) {
  const auto bytes = new_state_file(slot);
  return {bytes.begin(), bytes.end()};
}

MemberView view_of(uint64_t epoch) { return {.version = {.epoch = epoch}}; }

// A process that has stored an epoch and a list, and keeps on running.
struct Running {
  Running() {
    BOOST_REQUIRE(!store->store({.max_epoch = kEpoch}));
    BOOST_REQUIRE(!store->store_members(view_of(3)));
  }

  void remove() const { fs::remove_all(folder.state()); }
  void copy_to(const char* name) const {
    fs::copy(folder.state(), folder.path() / name, fs::copy_options::recursive);
  }
  void put_back(const char* name) const { fs::rename(folder.path() / name, folder.state()); }
  std::string flaw() const { return store->look().flaw; }
  // Another state of this process's id; returns what is in its file.
  std::string put_in_its_place(Slot slot) const {
    slot.identity = store->identity();
    slot.group = "orders";
    remove();
    fs::create_directory(folder.state());
    write_file(folder.state() / "state", file_of(slot));
    return file_of(slot);
  }

  // The folder is as it was, and the next process finds all of it.
  void expect_whole(uint64_t epoch = kEpoch) {
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

  TemporaryFolder folder;
  FailingCalls calls;
  std::unique_ptr<StateStore> store = std::make_unique<StateStore>(folder.settings(), calls);
};

// Fails at its n-th call since `failing_at` was set, whichever that is.
class FailingOnce : public FileCalls {
 public:
  int failing_at = -1;

  int make_folder(const char* path, mode_t mode) override {
    return fails() ? -1 : FileCalls::make_folder(path, mode);
  }
  int open(int folder, const char* name, int flags, mode_t mode) override {
    return fails() ? -1 : FileCalls::open(folder, name, flags, mode);
  }
  ssize_t write(int fd, std::span<const uint8_t> bytes, uint64_t offset) override {
    return fails() ? -1 : FileCalls::write(fd, bytes, offset);
  }
  int sync_data(int fd) override { return fails() ? -1 : FileCalls::sync_data(fd); }
  int sync(int fd) override { return fails() ? -1 : FileCalls::sync(fd); }
  int rename(int folder, const char* from, const char* to) override {
    return fails() ? -1 : FileCalls::rename(folder, from, to);
  }

 private:
  bool fails() {
    errno = EIO;
    return failing_at >= 0 && failing_at-- == 0;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(state_remade)

BOOST_FIXTURE_TEST_CASE(a_deleted_folder_is_made_anew_with_all_that_was_in_it, Running) {
  remove();
  const FileLook look = store->look();
  BOOST_TEST(look.loss == kFolderLost);
  BOOST_TEST(look.flaw == "");
  BOOST_TEST(!store->store({.max_epoch = kEpoch + 1}));
  expect_whole(kEpoch + 1);
}

BOOST_FIXTURE_TEST_CASE(it_is_made_anew_again_and_again_and_with_the_folders_above, Running) {
  StateSettings settings = folder.settings();
  settings.folder = folder.path() / "a" / "b";
  StateStore deep(settings);
  for (uint64_t epoch = 1; epoch < 5; ++epoch) {
    BOOST_TEST(!deep.store({.max_epoch = epoch}));
    fs::remove_all(folder.path() / "a");
    BOOST_TEST(deep.look().flaw == "");
    BOOST_TEST(fs::exists(settings.folder / "identity"));
    BOOST_TEST(!fs::exists(settings.folder / "members"));  // there never was a list
  }
}

// The list that an earlier process has left, too.
BOOST_FIXTURE_TEST_CASE(a_list_that_was_found_is_in_the_new_folder, Running) {
  store.reset();
  store = std::make_unique<StateStore>(folder.settings());
  remove();
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// As long as a deleted file is open its number is not given again; in memory none ever is.
BOOST_FIXTURE_TEST_CASE(the_new_folder_is_locked_and_another_process_has_another_home, Running) {
  const uint64_t home = store->home();
  const ino_t number = number_of(folder.state() / "lock");
  BOOST_TEST(home != 0u);
  for (int i = 0; i < 5; ++i) {
    remove();
    // Whoever comes now has a folder of its own for a moment, and must not get the number.
    { BOOST_TEST(StateStore(folder.settings()).home() != home); }
    BOOST_TEST(flaw().ends_with("this sidecar then makes its own anew"));
    remove();
    BOOST_TEST(flaw() == "");
    BOOST_TEST(store->home() == home);
    BOOST_TEST(error_of(folder.settings()).path() == folder.state() / "lock");
    BOOST_TEST(is_open(number));
  }
}

BOOST_FIXTURE_TEST_CASE(one_that_was_moved_away_is_left_alone_and_can_be_put_back, Running) {
  fs::rename(folder.state(), folder.path() / "elsewhere");
  BOOST_TEST(store->look().loss == kFolderLost);
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(flaw().find("put it back") != std::string::npos);
    BOOST_TEST(!fs::exists(folder.state()));
  }
  BOOST_TEST(store->store({.max_epoch = kEpoch + 1}).has_value());
  BOOST_TEST(!store->is_folder_refused());
  put_back("elsewhere");
  BOOST_TEST(!store->store({.max_epoch = kEpoch + 1}));
  expect_whole(kEpoch + 1);
}

// Deleted in the end, it cannot come back.
BOOST_FIXTURE_TEST_CASE(one_that_was_moved_away_and_then_deleted_is_made_anew, Running) {
  fs::rename(folder.state(), folder.path() / "elsewhere");
  BOOST_TEST(flaw() != "");
  fs::remove_all(folder.path() / "elsewhere");
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// Its lock would keep nobody out any more.
BOOST_FIXTURE_TEST_CASE(an_emptied_folder_is_filled_again_and_locked, Running) {
  for (const char* name : {"lock", "state", "identity", "members"}) {
    fs::remove(folder.state() / name);
  }
  BOOST_TEST(flaw() == "");
  BOOST_TEST(error_of(folder.settings()).path() == folder.state() / "lock");
  fs::remove(folder.state() / "lock");
  BOOST_TEST(flaw() == "");
  BOOST_TEST(error_of(folder.settings()).path() == folder.state() / "lock");
  expect_whole();
}

// The names in the backup are other ones of the same files.
BOOST_FIXTURE_TEST_CASE(one_is_filled_again_of_which_a_backup_of_hard_links_is_kept, Running) {
  const fs::path backup = folder.path() / "backup";
  fs::create_directory(backup);
  for (const char* name : {"lock", "state", "identity", "members"}) {
    fs::create_hard_link(folder.state() / name, backup / name);
    fs::remove(folder.state() / name);
  }
  BOOST_TEST(flaw() == "");
  BOOST_TEST(error_of(folder.settings()).path() == folder.state() / "lock");
  expect_whole();
}

// Another file under the lock's name keeps nobody out, either.
BOOST_FIXTURE_TEST_CASE(a_lock_that_was_replaced_is_made_anew, Running) {
  fs::rename(folder.state() / "lock", folder.path() / "lock");
  write_file(folder.state() / "lock", "");
  BOOST_TEST(flaw() == "");
  BOOST_TEST(error_of(folder.settings()).path() == folder.state() / "lock");
  expect_whole();
}

BOOST_FIXTURE_TEST_CASE(an_empty_folder_in_its_place_is_taken, Running) {
  remove();
  fs::create_directory(folder.state());
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// Somebody has put a backup back.
BOOST_FIXTURE_TEST_CASE(an_own_copy_is_written_over, Running) {
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

BOOST_FIXTURE_TEST_CASE(another_process_that_uses_the_new_folder_keeps_it, Running) {
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

BOOST_FIXTURE_TEST_CASE(what_is_not_known_to_be_its_own_is_not_written_over, Running) {
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

// Whoever has written it may have promised what this process does not know of.
BOOST_FIXTURE_TEST_CASE(a_folder_of_this_id_that_knows_more_is_not_written_over, Running) {
  const auto expect_refusal = [&](const Record& there) {
    const std::string file = put_in_its_place({.sequence = 1, .record = there});
    BOOST_TEST(flaw().starts_with((folder.state() / "state").string() +
                                  ": is newer than what this process remembers"));
    BOOST_TEST((read_file(folder.state() / "state") == file));
    remove();
    BOOST_TEST(flaw() == "");
  };
  expect_refusal({.max_epoch = kEpoch + 1});
  expect_refusal({.max_epoch = kEpoch, .granted_to = kSomebody});
  BOOST_REQUIRE(!store->store({.max_epoch = kEpoch, .granted_to = kSomebody}));
  expect_refusal({.max_epoch = kEpoch, .granted_to = kAnother});
}

// However often its process has stored it.
BOOST_FIXTURE_TEST_CASE(a_folder_of_this_id_that_knows_no_more_is_written_over, Running) {
  BOOST_REQUIRE(!store->store({.max_epoch = kEpoch, .granted_to = kSomebody}));
  for (const Record& there :
       {Record{.max_epoch = kEpoch, .granted_to = kSomebody}, Record{.max_epoch = kEpoch},
        Record{.max_epoch = kEpoch - 1, .granted_to = kAnother}}) {
    put_in_its_place({.sequence = 1000, .record = there});
    BOOST_TEST(flaw() == "");
  }
  expect_whole();
}

// A write that failed may be on the disk all the same.
BOOST_FIXTURE_TEST_CASE(a_copy_with_what_could_not_be_stored_is_its_own, Running) {
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

BOOST_AUTO_TEST_CASE(a_failure_anywhere_is_told_and_the_next_look_makes_it_good) {
  for (int call = 0;; ++call) {
    const TemporaryFolder folder;
    FailingOnce calls;
    StateStore store(folder.settings(), calls);
    BOOST_REQUIRE(!store.store({.max_epoch = kEpoch}));
    fs::remove_all(folder.state());
    calls.failing_at = call;
    const std::string flaw = store.look().flaw;
    BOOST_TEST_CONTEXT("failed at call " << call << ": " << flaw) {
      if (calls.failing_at >= 0) {
        BOOST_TEST(call > 10);
        BOOST_TEST(flaw == "");
        return;
      }
      BOOST_TEST(flaw.find("Input/output error") != std::string::npos);
      BOOST_TEST(store.has_failed());
      BOOST_TEST(!store.is_folder_refused());
      BOOST_TEST(store.look().flaw == "");
      BOOST_TEST(store.look().loss == "");
      BOOST_TEST(!store.has_failed());
      BOOST_TEST(read_file(folder.state() / "identity") == to_string(store.identity()) + "\n");
      const auto state = read_file(folder.state() / "state");
      BOOST_TEST(state.size() == kStateFileBytes);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(only_what_is_forbidden_for_good_counts_as_refused, Running) {
  remove();
  for (const int error : {EIO, ENOSPC, EMFILE, ENOENT, EACCES, ENOSPC, EPERM, EROFS}) {
    const bool is_forbidden = error == EACCES || error == EPERM || error == EROFS;
    calls.folder_error = error;
    BOOST_TEST_CONTEXT("errno " << error) {
      const auto told = store->store({.max_epoch = kEpoch});
      if (store->has_failed()) BOOST_TEST(told.has_value());
      BOOST_TEST(flaw() != "");
      BOOST_TEST(store->is_folder_refused() == is_forbidden);
    }
  }
  BOOST_TEST(flaw().find("start this sidecar again while the others run") != std::string::npos);
  // Somebody has made it, for others.
  calls.folder_error = 0;
  fs::create_directory(folder.state());
  calls.open_error = EACCES;
  BOOST_TEST(flaw().find("make it for user") != std::string::npos);
  BOOST_TEST(store->is_folder_refused());
  calls.open_error = 0;
  BOOST_TEST(flaw() == "");
  BOOST_TEST(!store->is_folder_refused());
  expect_whole();
}

// As the thread pool does it.
BOOST_FIXTURE_TEST_CASE(lists_are_stored_while_it_is_made_anew, Running) {
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) static_cast<void>(store->store_members(view_of(3)));
  });
  for (int i = 0; i < 50; ++i) {
    std::error_code unused;
    while (fs::exists(folder.state() / "lock", unused)) fs::remove_all(folder.state(), unused);
    static_cast<void>(store->look());
    static_cast<void>(store->store({.max_epoch = kEpoch}));
  }
  is_over = true;
  other.join();
  static_cast<void>(store->look());
  expect_whole();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
