// A folder that is deleted while its process runs is made anew, with all that was in it.
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

constexpr const char* kFolderLost =
    "was taken away: its folder, or the lock in it, was removed or moved";

ino_t number_of(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? status.st_ino : 0;
}

bool is_open(ino_t number) {
  const fs::directory_iterator files("/proc/self/fd");
  return std::any_of(begin(files), end(files),
                     [&](const auto& file) { return number_of(file) == number; });
}

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

BOOST_FIXTURE_TEST_CASE(a_deleted_folder_is_made_anew_with_all_that_was_in_it, RunningStore) {
  remove();
  const FileLook look = store->look();
  BOOST_TEST(look.loss == kFolderLost);
  BOOST_TEST(look.flaw == "");
  BOOST_TEST(!store->store({.max_epoch = kEpoch + 1}));
  expect_whole(kEpoch + 1);
}

BOOST_FIXTURE_TEST_CASE(it_is_made_anew_again_and_again_and_with_the_folders_above, RunningStore) {
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
BOOST_FIXTURE_TEST_CASE(a_list_that_was_found_is_in_the_new_folder, RunningStore) {
  store.reset();
  store = std::make_unique<StateStore>(folder.settings());
  remove();
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// As long as a deleted file is open its number is not given again; in memory none ever is.
BOOST_FIXTURE_TEST_CASE(the_new_folder_is_locked_and_another_process_has_another_home,
                        RunningStore) {
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

BOOST_FIXTURE_TEST_CASE(one_that_was_moved_away_is_left_alone_and_can_be_put_back, RunningStore) {
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
BOOST_FIXTURE_TEST_CASE(one_that_was_moved_away_and_then_deleted_is_made_anew, RunningStore) {
  fs::rename(folder.state(), folder.path() / "elsewhere");
  BOOST_TEST(flaw() != "");
  fs::remove_all(folder.path() / "elsewhere");
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// Its lock would keep nobody out any more.
BOOST_FIXTURE_TEST_CASE(an_emptied_folder_is_filled_again_and_locked, RunningStore) {
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
BOOST_FIXTURE_TEST_CASE(one_is_filled_again_of_which_a_backup_of_hard_links_is_kept, RunningStore) {
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
BOOST_FIXTURE_TEST_CASE(a_lock_that_was_replaced_is_made_anew, RunningStore) {
  fs::rename(folder.state() / "lock", folder.path() / "lock");
  write_file(folder.state() / "lock", "");
  BOOST_TEST(flaw() == "");
  BOOST_TEST(error_of(folder.settings()).path() == folder.state() / "lock");
  expect_whole();
}

BOOST_AUTO_TEST_CASE(a_failure_anywhere_is_told_and_the_next_look_makes_it_good) {
  for (int call = 0;; ++call) {
    const TemporaryFolder folder;
    FailingOnce calls;
    StateStore store(folder.settings(), calls);
    BOOST_REQUIRE(!store.store({.max_epoch = RunningStore::kEpoch}));
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

// As the thread pool does it.  A race between the two is seen by ThreadSanitizer alone.
BOOST_FIXTURE_TEST_CASE(lists_are_stored_while_it_is_made_anew, RunningStore) {
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

// Deleted again at the worst moment, when all of it is there but for the last look.
BOOST_AUTO_TEST_CASE(one_that_is_deleted_again_while_it_is_made_is_made_once_more) {
  class DeletedAtTheEnd : public FileCalls {
   public:
    fs::path file;
    int rename(int folder, const char* from, const char* to) override {
      const int result = FileCalls::rename(folder, from, to);
      if (!file.empty() && std::string(to) == "identity") fs::remove(std::exchange(file, {}));
      return result;
    }
  };
  const TemporaryFolder folder;
  DeletedAtTheEnd calls;
  StateStore store(folder.settings(), calls);
  fs::remove_all(folder.state());
  calls.file = folder.state() / "state";
  BOOST_TEST(store.look().flaw.find("was removed at this moment") != std::string::npos);
  BOOST_TEST(store.look().flaw == "");
  BOOST_TEST(fs::exists(folder.state() / "state"));
}

// Also when it has files of the same names: what is in it is not even locked.
BOOST_FIXTURE_TEST_CASE(somebodys_folder_in_its_place_is_left_as_it_is, RunningStore) {
  for (const char* name : {"precious.txt", "members", "state.new", "identity.new"}) {
    remove();
    fs::create_directory(folder.state());
    write_file(folder.state() / name, "of another program");
    BOOST_TEST(flaw().ends_with("this sidecar then makes its own anew"), name);
    BOOST_TEST(read_file(folder.state() / name) == "of another program");
    BOOST_TEST(!fs::exists(folder.state() / "lock"));
    remove();
    BOOST_TEST(flaw() == "");
  }
  remove();
  fs::create_directories(folder.state() / "lost+found");  // of a new volume
  BOOST_TEST(flaw() == "");
  expect_whole();
}

// What is in it beside its own files has been there all the time.
BOOST_FIXTURE_TEST_CASE(its_own_folder_is_filled_again_whatever_else_is_in_it, RunningStore) {
  write_file(folder.state() / "notes.txt", "of the operator");
  for (const char* name : {"lock", "state", "identity"}) fs::remove(folder.state() / name);
  BOOST_TEST(flaw() == "");
  BOOST_TEST(read_file(folder.state() / "notes.txt") == "of the operator");
}

BOOST_FIXTURE_TEST_CASE(behind_a_link_it_is_taken_once_somebody_has_made_it, RunningStore) {
  const fs::path target = folder.path() / "target";
  store.reset();
  fs::rename(folder.state(), target);
  fs::create_directory_symlink(target, folder.state());
  store = std::make_unique<StateStore>(folder.settings());
  fs::remove_all(target);
  BOOST_TEST(flaw().find("is a link to nothing") != std::string::npos);
  BOOST_TEST(store->is_folder_refused());
  fs::create_directory(target);
  BOOST_TEST(flaw() == "");
  expect_whole();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
