// What a process keeps over a restart, and in which words it says that it cannot.
#include "io/state/state_store.hh"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "core/members.hh"
#include "state_folder.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  BOOST_REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// A folder that has stored this epoch; returns the identity.
Uuid prepare(const TemporaryFolder& folder, uint64_t epoch) {
  StateStore store(folder.settings());
  BOOST_REQUIRE(!store.store({.max_epoch = epoch}));
  return store.identity();
}

MemberView some_view() {
  MemberView view{.version = {.epoch = 4, .counter = 2}};
  view.entries.push_back({.name = "orders-1", .address = "10.0.0.1:7946", .priority = 5});
  return view;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(state_store)

BOOST_AUTO_TEST_CASE(the_first_start_makes_an_identity_and_an_empty_record) {
  const TemporaryFolder folder;
  const StateStore store(folder.settings());
  BOOST_TEST(store.identity().version() == Uuid::version_random_number_based);
  BOOST_TEST(store.identity().variant() == Uuid::variant_rfc_4122);
  BOOST_TEST((store.record() == Record{}));
  BOOST_TEST(!store.members().has_value());
  BOOST_TEST(store.warnings().empty());
  BOOST_TEST(read_file(folder.state() / "identity") == to_string(store.identity()) + "\n");
}

BOOST_AUTO_TEST_CASE(a_folder_that_others_may_write_is_worth_a_warning) {
  const TemporaryFolder folder;
  prepare(folder, 1);
  const auto warnings_with = [&](mode_t mode) {
    BOOST_REQUIRE(::chmod(folder.state().c_str(), mode) == 0);
    return StateStore(folder.settings()).warnings();
  };
  for (const mode_t sound : {0700u, 0755u, 02770u, 0750u}) BOOST_TEST(warnings_with(sound).empty());
  const std::vector<std::string> by_all = warnings_with(0777);
  BOOST_REQUIRE(by_all.size() == 1u);
  BOOST_TEST(by_all.front().starts_with(folder.state().string() + " can be written by everybody"));
  BOOST_REQUIRE(warnings_with(0770).size() == 1u);
  if (::geteuid() != 0) return;
  BOOST_REQUIRE(::chown(folder.state().c_str(), kNobody, kNobody) == 0);
  const std::vector<std::string> of_nobody = warnings_with(0700);
  BOOST_REQUIRE(of_nobody.size() == 1u);
  BOOST_TEST(contains(of_nobody.front(), "belongs to user 65534"));
}

BOOST_AUTO_TEST_CASE(identities_differ) {
  const TemporaryFolder one;
  const TemporaryFolder other;
  BOOST_TEST((StateStore(one.settings()).identity() != StateStore(other.settings()).identity()));
}

BOOST_AUTO_TEST_CASE(a_restart_finds_the_identity_and_the_last_record) {
  const TemporaryFolder folder;
  const Uuid identity = prepare(folder, 1);
  for (uint64_t epoch = 2; epoch <= 20; ++epoch) {
    StateStore store(folder.settings());
    BOOST_TEST((store.identity() == identity));
    BOOST_TEST(store.record().max_epoch == epoch - 1);
    BOOST_TEST(store.warnings().empty());
    BOOST_TEST(!store.store({.max_epoch = epoch}).has_value());
  }
}

BOOST_AUTO_TEST_CASE(the_largest_epoch_is_kept) {
  const TemporaryFolder folder;
  prepare(folder, UINT64_MAX);
  BOOST_TEST(StateStore(folder.settings()).record().max_epoch == UINT64_MAX);
}

BOOST_AUTO_TEST_CASE(a_missing_folder_is_made_for_this_user_alone) {
  const TemporaryFolder folder;
  StateSettings settings = folder.settings();
  settings.folder = folder.path() / "a" / "b" / "";
  const StateStore store(settings);
  BOOST_TEST(mode_of(folder.path() / "a") == 0700u);
  BOOST_TEST(mode_of(folder.path() / "a" / "b") == 0700u);
  for (const char* name : {"lock", "state", "identity"}) {
    BOOST_TEST(mode_of(settings.folder / name) == 0600u);
  }
}

BOOST_AUTO_TEST_CASE(without_a_folder_nothing_is_kept_and_everything_succeeds) {
  StateStore store({.folder = "", .group = "orders"});
  BOOST_TEST(!store.store({.max_epoch = 5}).has_value());
  BOOST_TEST(!store.store_members(some_view()).has_value());
  BOOST_TEST((StateStore({.folder = "", .group = "orders"}).identity() != store.identity()));
}

BOOST_AUTO_TEST_CASE(two_processes_cannot_use_one_folder) {
  const TemporaryFolder folder;
  const StateStore store(folder.settings());
  const int status = in_another_process([&] {
    try {
      const StateStore second(folder.settings());
    } catch (const FileError& error) {
      const bool is_clear = error.path() == folder.state() / "lock" &&
                            contains(error.flaw(), "another process") &&
                            contains(error.remedy(), "a state_dir of its own");
      return is_clear ? 1 : 2;
    }
    return 0;
  });
  BOOST_TEST(status == 1);
}

BOOST_AUTO_TEST_CASE(the_lock_ends_with_its_process) {
  const TemporaryFolder folder;
  BOOST_TEST(in_another_process([&] {
               const StateStore store(folder.settings());
               ::_exit(7);
               return 0;
             }) == 7);
  BOOST_CHECK_NO_THROW(StateStore(folder.settings()));
}

BOOST_AUTO_TEST_CASE(the_folder_of_another_group_is_refused) {
  const TemporaryFolder folder;
  prepare(folder, 3);
  StateSettings settings = folder.settings();
  settings.group = "billing";
  const FileError error = error_of(settings);
  BOOST_TEST(error.flaw() == "belongs to group \"orders\", this process to \"billing\"");
  BOOST_TEST(StateStore(folder.settings()).record().max_epoch == 3u);
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_refused) {
  if (::geteuid() != 0) return;  // only root can give files away
  for (const char* name : {"lock", "state", "identity"}) {
    const TemporaryFolder folder;
    prepare(folder, 3);
    BOOST_REQUIRE(::chown((folder.state() / name).c_str(), kNobody, kNobody) == 0);
    const FileError error = error_of(folder.settings());
    BOOST_TEST(error.path() == folder.state() / name);
    BOOST_TEST(error.flaw() == "belongs to user 65534, this process to user 0");
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_none_is_refused) {
  for (const char* name : {"lock", "state", "identity"}) {
    const TemporaryFolder folder;
    prepare(folder, 3);
    fs::remove(folder.state() / name);
    fs::create_symlink("/dev/null", folder.state() / name);
    BOOST_TEST(error_of(folder.settings()).path() == folder.state() / name);
    fs::remove(folder.state() / name);
    fs::create_directory(folder.state() / name);
    BOOST_TEST(error_of(folder.settings()).path() == folder.state() / name);
    fs::remove(folder.state() / name);
    BOOST_REQUIRE(::mkfifo((folder.state() / name).c_str(), 0600) == 0);
    BOOST_TEST(error_of(folder.settings()).flaw() == "is not a regular file");
  }
}

BOOST_AUTO_TEST_CASE(a_path_through_a_file_is_refused) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "");
  StateSettings settings = folder.settings();
  settings.folder = folder.path() / "file";
  BOOST_TEST(contains(error_of(settings).remedy(), "make the folders"));
  settings.folder = folder.path() / "file" / "state";
  BOOST_TEST(contains(error_of(settings).remedy(), "make the folders"));
}

BOOST_AUTO_TEST_CASE(a_folder_without_permission_is_refused_with_the_user_it_needs) {
  const TemporaryFolder folder;
  fs::create_directory(folder.state());
  fs::permissions(folder.state(), fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(folder.path(), fs::perms::others_exec, fs::perm_options::add);
  const int status = in_another_process([&] {
    if (::geteuid() == 0 && ::seteuid(kNobody) != 0) return 98;
    const std::string user = std::to_string(::geteuid());
    try {
      const StateStore store(folder.settings());
    } catch (const FileError& error) {
      return contains(error.flaw(), "Permission denied") && contains(error.remedy(), user) ? 1 : 2;
    }
    return 0;
  });
  BOOST_TEST(status == 1);
}

BOOST_AUTO_TEST_CASE(a_file_system_for_reading_only_is_refused_at_once) {
  const TemporaryFolder folder;
  prepare(folder, 3);
  FailingCalls calls;
  calls.open_error = EROFS;
  const FileError error = error_of(folder.settings(), calls);
  BOOST_TEST(contains(error.flaw(), "Read-only file system"));
  BOOST_TEST(contains(error.remedy(), "for writing"));
}

BOOST_AUTO_TEST_CASE(a_disk_that_fails_is_noticed_at_start) {
  const TemporaryFolder folder;
  prepare(folder, 3);
  FailingCalls calls;
  calls.sync_error = EIO;
  BOOST_TEST(contains(error_of(folder.settings(), calls).flaw(), "to the disk"));
  BOOST_TEST(StateStore(folder.settings()).record().max_epoch == 3u);
}

// What the failed write has left in the old file counts no more: a second sync of it would say yes.
BOOST_AUTO_TEST_CASE(after_a_failed_write_or_sync_the_file_is_made_anew) {
  for (const bool in_write : {true, false}) {
    const TemporaryFolder folder;
    prepare(folder, 3);
    FailingCalls calls;
    {
      StateStore store(folder.settings(), calls);
      const Uuid identity = store.identity();
      const auto file_number = [&] {
        struct stat status {};
        BOOST_REQUIRE(::stat((folder.state() / "state").c_str(), &status) == 0);
        return status.st_ino;
      };
      const ino_t before = file_number();
      (in_write ? calls.write_error : calls.sync_error) = EIO;
      for (int i = 0; i < 3; ++i) {
        const auto error = store.store({.max_epoch = 4});
        BOOST_REQUIRE(error.has_value());
        BOOST_TEST(contains(error->path(), (folder.state() / "state").string()));
        BOOST_TEST(error->may_pass());
      }
      calls.write_error = calls.sync_error = 0;
      BOOST_TEST(!store.store({.max_epoch = 5}).has_value());
      BOOST_TEST(file_number() != before);
      BOOST_TEST(!store.store({.max_epoch = 6}).has_value());
      BOOST_TEST((store.identity() == identity));
    }
    BOOST_TEST(StateStore(folder.settings()).record().max_epoch == 6u);
  }
}

// A supervisor shall start again what may find the disk well the next time, and nothing else.
BOOST_AUTO_TEST_CASE(an_error_says_whether_waiting_may_help) {
  const TemporaryFolder folder;
  for (const int error : {EIO, ENOSPC, EDQUOT, EROFS}) {
    FailingCalls calls;
    calls.sync_error = error;
    BOOST_TEST(error_of(folder.settings(), calls).may_pass(), "errno " << error);
  }
  for (const int error : {EACCES, EPERM, ELOOP}) {
    FailingCalls calls;
    calls.open_error = error;
    BOOST_TEST(!error_of(folder.settings(), calls).may_pass(), "errno " << error);
  }
  const StateStore store(folder.settings());
  BOOST_TEST(error_of(folder.settings()).may_pass());  // it is locked
}

// It is made good by the next one; a process that ends before that has left a damaged slot.
BOOST_AUTO_TEST_CASE(a_write_that_is_cut_short_is_an_error) {
  for (const bool goes_on : {true, false}) {
    const TemporaryFolder folder;
    prepare(folder, 3);
    FailingCalls calls;
    {
      StateStore store(folder.settings(), calls);
      calls.written_at_most = 511;
      BOOST_TEST(store.store({.max_epoch = 4}).has_value());
      calls.written_at_most = kStateFileBytes;
      if (goes_on) BOOST_TEST(!store.store({.max_epoch = 4}).has_value());
    }
    const StateStore store(folder.settings());
    BOOST_TEST(store.record().max_epoch == (goes_on ? 4u : 0u));
    BOOST_TEST(store.warnings().size() == (goes_on ? 0u : 1u));
  }
}

BOOST_AUTO_TEST_CASE(one_record_costs_one_write_and_one_sync) {
  const TemporaryFolder folder;
  FailingCalls calls;
  StateStore store(folder.settings(), calls);
  const int before = calls.calls;
  BOOST_TEST(!store.store({.max_epoch = 1}).has_value());
  BOOST_TEST(calls.calls == before + 2);
}

BOOST_AUTO_TEST_CASE(the_list_of_members_is_found_again) {
  const TemporaryFolder folder;
  {
    StateStore store(folder.settings());
    BOOST_TEST(!store.store_members({}).has_value());
    BOOST_TEST(!store.store_members(some_view()).has_value());
  }
  const StateStore store(folder.settings());
  BOOST_REQUIRE(store.members().has_value());
  BOOST_TEST((store.members()->version == some_view().version));
  BOOST_TEST((store.members()->entries == some_view().entries));
  BOOST_TEST(store.warnings().empty());
}

BOOST_AUTO_TEST_CASE(what_a_crash_left_of_a_draft_does_no_harm) {
  const TemporaryFolder folder;
  StateStore store(folder.settings());
  write_file(folder.state() / "members.new", std::string(10000, 'x'));
  BOOST_TEST(!store.store_members(some_view()).has_value());
  BOOST_TEST(read_file(folder.state() / "members").size() < 1000u);
  BOOST_TEST(!fs::exists(folder.state() / "members.new"));
}

BOOST_AUTO_TEST_CASE(a_list_of_the_largest_group_is_found_again) {
  const TemporaryFolder folder;
  MemberView view;
  for (size_t i = 0; i < kMaxMembers; ++i) {
    view.entries.push_back({.name = std::string(63, 'n'),
                            .address = std::string(255, 'a'),
                            .priority = UINT32_MAX,
                            .boot = UINT64_MAX});
  }
  BOOST_TEST(!StateStore(folder.settings()).store_members(view).has_value());
  const StateStore store(folder.settings());
  BOOST_TEST((store.members().value().entries == view.entries));
}

BOOST_AUTO_TEST_CASE(a_list_of_more_members_than_a_group_may_have_is_ignored) {
  const TemporaryFolder folder;
  MemberView view;
  view.entries.resize(kMaxMembers + 1, {.name = "n"});
  BOOST_TEST(!StateStore(folder.settings()).store_members(view).has_value());
  const StateStore store(folder.settings());
  BOOST_TEST(!store.members().has_value());
  BOOST_TEST(store.warnings().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_failure_to_keep_the_list_is_told_and_the_next_call_tries_again) {
  const TemporaryFolder folder;
  FailingCalls calls;
  StateStore store(folder.settings(), calls);
  for (int* error :
       {&calls.open_error, &calls.write_error, &calls.sync_error, &calls.rename_error}) {
    *error = ENOSPC;
    const auto failure = store.store_members(some_view());
    BOOST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->remedy() == "free some space on this file system");
    *error = 0;
    BOOST_TEST(!store.store_members(some_view()).has_value());
    BOOST_TEST(!store.store({.max_epoch = 1}).has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_list_with_any_damage_is_ignored_with_a_warning) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(!StateStore(folder.settings()).store_members(some_view()));
  const std::string good = read_file(folder.state() / "members");
  const auto expect_ignored = [&](const std::string& bad) {
    write_file(folder.state() / "members", bad);
    const StateStore store(folder.settings());
    BOOST_TEST(!store.members().has_value());
    BOOST_REQUIRE(store.warnings().size() == 1u);
    BOOST_TEST(store.warnings()[0].starts_with((folder.state() / "members").string() + ": "));
  };
  for (size_t size = 0; size < good.size(); ++size) expect_ignored(good.substr(0, size));
  for (size_t place = 0; place < good.size(); ++place) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 0x10);
    expect_ignored(bad);
  }
  expect_ignored(good + "x");
  expect_ignored(std::string(2 << 20, 'x'));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
