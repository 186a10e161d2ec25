// What is left of the state after crashes and damage: all of it, or a clear word that it is lost.
#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <random>

#include "io/state/state_files.hh"
#include "io/state/state_store.hh"
#include "io/wire/checksum.hh"
#include "io/wire/little_endian.hh"
#include "state_folder.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;

constexpr int kDied = 66;

// Ends the process at its n-th call, and before that forgets what was not synced, as a machine that
// loses its power may: a new file is empty, a new name is gone.  A write in place is done or not:
// it is one sector.
class DyingCalls : public FileCalls {
 public:
  enum class Loss { kNothing, kContents, kNames };

  DyingCalls(int calls_left, Loss loss) : calls_left_(calls_left), loss_(loss) {}

  int make_folder(const char* path, mode_t mode) override {
    die_in_time();
    return FileCalls::make_folder(path, mode);
  }
  int open(int folder, const char* name, int flags, mode_t mode) override {
    die_in_time();
    const int fd = FileCalls::open(folder, name, flags, mode);
    if ((flags & O_TRUNC) != 0) unsynced_ = fd;
    return fd;
  }
  ssize_t write(int fd, std::span<const uint8_t> bytes, uint64_t offset) override {
    die_in_time();
    return FileCalls::write(fd, bytes, offset);
  }
  int sync_data(int fd) override { return sync(fd); }
  int sync(int fd) override {
    die_in_time();
    unsynced_ = -1;
    if (fd == renamed_in_) undo_ = nullptr;
    return FileCalls::sync(fd);
  }
  int rename(int folder, const char* from, const char* to) override {
    die_in_time();
    const int result = FileCalls::rename(folder, from, to);
    renamed_in_ = folder;
    // Of two unsynced names the older one is lost, which is worse: the order is gone, too.
    if (!undo_) {
      undo_ = [folder, name = std::string(to)] { ::unlinkat(folder, name.c_str(), 0); };
    }
    return result;
  }

 private:
  void die_in_time() {
    if (calls_left_-- > 0) return;
    if (loss_ == Loss::kContents && unsynced_ >= 0 && ::ftruncate(unsynced_, 0) != 0) ::_exit(1);
    if (loss_ == Loss::kNames && undo_) undo_();
    ::_exit(kDied);
  }

  int calls_left_;
  Loss loss_;
  int unsynced_ = -1;  // a new file
  int renamed_in_ = -1;
  std::function<void()> undo_;
};

// `action` dies at its first call, then at its second, ... until it survives; `judge` looks at what
// is left each time.
void die_everywhere(const std::function<void(FileCalls&)>& action,
                    const std::function<void(bool survived)>& judge, DyingCalls::Loss loss) {
  for (int calls = 0;; ++calls) {
    const int status = in_another_process([&] {
      DyingCalls dying(calls, loss);
      action(dying);
      return 0;
    });
    BOOST_TEST_CONTEXT("died at call " << calls << ", loss " << static_cast<int>(loss)) {
      BOOST_REQUIRE((status == 0 || status == kDied));
      judge(status == 0);
    }
    if (status == 0) return;
  }
}

std::string slot_text(uint64_t sequence, uint64_t epoch, const Uuid& identity) {
  const auto bytes =
      pack({.sequence = sequence, .identity = identity, .group = "orders", .record = {epoch}});
  return {bytes.begin(), bytes.end()};
}

// A folder whose newest slot is the first (sequence 9, epoch 9), the other the one before it.
Uuid prepare_slots(const TemporaryFolder& folder) {
  const Uuid identity = StateStore(folder.settings()).identity();
  std::string file(kStateFileBytes, '\0');
  file.replace(0, kSlotBytes, slot_text(9, 9, identity));
  file.replace(kSlotStride, kSlotBytes, slot_text(8, 8, identity));
  write_file(folder.state() / "state", file);
  return identity;
}

void damage(const TemporaryFolder& folder, size_t place) {
  std::string file = read_file(folder.state() / "state");
  file.at(place) = static_cast<char>(file.at(place) ^ 1);
  write_file(folder.state() / "state", file);
}

const auto kLosses = {DyingCalls::Loss::kNothing, DyingCalls::Loss::kContents,
                      DyingCalls::Loss::kNames};

}  // namespace

BOOST_AUTO_TEST_SUITE(state_loss)

BOOST_AUTO_TEST_CASE(a_first_start_that_dies_anywhere_leaves_nothing_or_a_usable_folder) {
  for (const DyingCalls::Loss loss : kLosses) {
    const TemporaryFolder folder;
    die_everywhere([&](FileCalls& calls) { StateStore(folder.settings(), calls); },
                   [&](bool survived) {
                     const bool has_identity = fs::exists(folder.state() / "identity");
                     BOOST_TEST((has_identity || !survived));
                     const StateStore store(folder.settings());
                     BOOST_TEST(store.record().max_epoch == 0u);
                     const std::string kept = read_file(folder.state() / "identity");
                     BOOST_TEST(kept == to_string(store.identity()) + "\n");
                     fs::remove_all(folder.state());
                   },
                   loss);
  }
}

BOOST_AUTO_TEST_CASE(an_identity_that_was_seen_is_never_replaced) {
  for (const DyingCalls::Loss loss : kLosses) {
    const TemporaryFolder folder;
    const std::string identity = to_string(StateStore(folder.settings()).identity());
    fs::remove(folder.state() / "identity");
    die_everywhere([&](FileCalls& calls) { StateStore(folder.settings(), calls); },
                   [&](bool) {
                     BOOST_TEST(to_string(StateStore(folder.settings()).identity()) == identity);
                     fs::remove(folder.state() / "identity");
                   },
                   loss);
  }
}

BOOST_AUTO_TEST_CASE(a_store_that_dies_anywhere_leaves_the_old_record_or_the_new_one) {
  uint64_t stored = 5;
  const TemporaryFolder folder;
  BOOST_REQUIRE(!StateStore(folder.settings()).store({.max_epoch = stored}));
  die_everywhere(
      [&](FileCalls& calls) {
        StateStore store(folder.settings(), calls);
        if (store.store({.max_epoch = stored + 1})) ::_exit(1);
      },
      [&](bool survived) {
        const uint64_t found = StateStore(folder.settings()).record().max_epoch;
        BOOST_TEST((found == stored + 1 || (found == stored && !survived)));
        stored = found;
      },
      DyingCalls::Loss::kNothing);
}

BOOST_AUTO_TEST_CASE(a_start_without_memory_that_dies_anywhere_can_be_done_again) {
  for (const DyingCalls::Loss loss : {DyingCalls::Loss::kNothing, DyingCalls::Loss::kContents}) {
    const TemporaryFolder folder;
    const Uuid identity = prepare_slots(folder);
    const auto lose = [&] { fs::remove(folder.state() / "state"); };
    lose();
    die_everywhere([&](FileCalls& calls) { StateStore(folder.settings(), calls); },
                   [&](bool) {
                     const StateStore store(folder.settings());
                     BOOST_TEST((store.identity() != identity));
                     BOOST_TEST(store.record().max_epoch == 0u);
                     lose();
                   },
                   loss);
  }
}

// Under its id the next one has all of it, or else begins as another one, without memory.
BOOST_AUTO_TEST_CASE(a_folder_made_anew_that_dies_anywhere_has_all_or_nothing) {
  for (const DyingCalls::Loss loss : kLosses) {
    const TemporaryFolder folder;
    Uuid identity{};
    const auto prepare = [&](StateStore& store) {
      identity = store.identity();
      BOOST_REQUIRE(!store.store({.max_epoch = 5}));
    };
    {
      StateStore first(folder.settings());
      prepare(first);
    }
    die_everywhere(
        [&](FileCalls& calls) {
          StateStore store(folder.settings(), calls);
          fs::remove_all(folder.state());
          if (!store.look().flaw.empty()) ::_exit(1);
        },
        [&](bool survived) {
          StateStore next(folder.settings());
          const bool has_all = next.identity() == identity;
          BOOST_TEST((has_all || !survived));
          BOOST_TEST(next.record().max_epoch == (has_all ? 5u : 0u));
          prepare(next);
        },
        loss);
  }
}

BOOST_AUTO_TEST_CASE(a_list_of_members_that_dies_anywhere_is_the_old_or_the_new_one) {
  for (const DyingCalls::Loss loss : {DyingCalls::Loss::kNothing, DyingCalls::Loss::kContents}) {
    const TemporaryFolder folder;
    const auto view = [](uint64_t epoch) { return MemberView{.version = {.epoch = epoch}}; };
    BOOST_REQUIRE(!StateStore(folder.settings()).store_members(view(1)));
    die_everywhere(
        [&](FileCalls& calls) {
          StateStore store(folder.settings(), calls);
          if (store.store_members(view(2))) ::_exit(1);
        },
        [&](bool survived) {
          const StateStore store(folder.settings());
          BOOST_TEST(store.warnings().size() <= 1u);
          BOOST_REQUIRE(store.members().has_value());
          const uint64_t found = store.members()->version.epoch;
          BOOST_TEST((found == 2u || (found == 1u && !survived)));
        },
        loss);
  }
}

BOOST_AUTO_TEST_CASE(a_slot_comes_back_as_it_was) {
  const Slot slot{.sequence = UINT64_MAX,
                  .identity = {{1, 2, 3}},
                  .group = std::string(63, 'g'),
                  .record = {.max_epoch = UINT64_MAX - 1}};
  BOOST_TEST((unpack(pack(slot)) == slot));
}

// If this fails, a new release cannot read what an old one has stored.
BOOST_AUTO_TEST_CASE(the_bytes_of_a_slot_are_what_they_were) {
  const std::string slot = slot_text(0x0102, 0x0304, {{0xaa, 0xbb}});
  std::string expected(kSlotBytes - 4, '\0');
  expected.replace(0, 9, std::string("BWSTATE\0\1", 9));
  expected.replace(16, 2, "\x02\x01");
  expected.replace(24, 2, "\xaa\xbb");
  expected.replace(40, 2, "\x04\x03");
  expected.replace(80, 6, "orders");
  BOOST_TEST(slot.substr(0, kSlotBytes - 4) == expected);
}

BOOST_AUTO_TEST_CASE(the_newest_slot_wins_in_either_place) {
  const TemporaryFolder folder;
  const Uuid identity = prepare_slots(folder);
  BOOST_TEST(StateStore(folder.settings()).record().max_epoch == 9u);
  std::string file(kStateFileBytes, '\0');
  file.replace(0, kSlotBytes, slot_text(9, 9, identity));
  file.replace(kSlotStride, kSlotBytes, slot_text(10, 11, identity));
  write_file(folder.state() / "state", file);
  BOOST_TEST(StateStore(folder.settings()).record().max_epoch == 11u);
}

// It goes on as another process, for peers may hold the one that it was to what it has said.
void check_starts_anew(const TemporaryFolder& folder, const Uuid& identity, const char* flaw) {
  Uuid anew{};
  {
    const StateStore store(folder.settings());
    anew = store.identity();
    BOOST_TEST((anew != identity));
    BOOST_TEST(store.record().max_epoch == 0u);
    BOOST_REQUIRE(store.warnings().size() == 1u);
    BOOST_TEST(store.warnings()[0] == (folder.state() / "state").string() + ": " + flaw +
                                          "; starting without it, under a new id");
  }
  const StateStore store(folder.settings());
  BOOST_TEST((store.identity() == anew));
  BOOST_TEST(store.warnings().empty());
}

constexpr const char* kOneSlot = "is damaged in one of its slots, perhaps in the newer one";

// What it held was perhaps newer than what the other one holds.
BOOST_AUTO_TEST_CASE(one_damaged_slot_is_a_memory_that_is_lost) {
  for (const size_t place : {size_t{0}, kSlotStride}) {
    for (const size_t byte : {0u, 8u, 16u, 40u, 300u, 511u}) {
      const TemporaryFolder folder;
      const Uuid identity = prepare_slots(folder);
      damage(folder, place + byte);
      check_starts_anew(folder, identity, kOneSlot);
    }
  }
}

// None that was ever written is empty.
BOOST_AUTO_TEST_CASE(an_empty_slot_is_a_memory_that_is_lost) {
  const TemporaryFolder folder;
  const Uuid identity = prepare_slots(folder);
  std::string file = read_file(folder.state() / "state");
  file.replace(kSlotStride, kSlotBytes, std::string(kSlotBytes, '\0'));
  write_file(folder.state() / "state", file);
  check_starts_anew(folder, identity, kOneSlot);
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_cut_off_anywhere_is_a_memory_that_is_lost) {
  const TemporaryFolder folder;
  const Uuid identity = prepare_slots(folder);
  const std::string before = read_file(folder.state() / "state");
  const std::string next = slot_text(10, 10, identity);
  for (size_t size = 0; size <= kSlotBytes; ++size) {
    std::string file = before;
    file.replace(kSlotStride, size, next, 0, size);
    const bool is_whole = file.compare(kSlotStride, kSlotBytes, next) == 0;
    const StateFileContents contents =
        read_state_file({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
    BOOST_TEST(contents.is_good() == (is_whole || file == before), "cut off after " << size);
  }
}

BOOST_AUTO_TEST_CASE(two_damaged_slots_are_a_memory_that_is_lost) {
  const TemporaryFolder folder;
  const Uuid identity = prepare_slots(folder);
  damage(folder, 300);
  damage(folder, kSlotStride + 300);
  check_starts_anew(folder, identity, "is damaged in both of its slots");
}

BOOST_AUTO_TEST_CASE(a_missing_state_beside_an_identity_is_a_memory_that_is_lost) {
  const TemporaryFolder folder;
  const Uuid identity = prepare_slots(folder);
  fs::remove(folder.state() / "state");
  check_starts_anew(folder, identity, "is missing, though this process has run before");
}

BOOST_AUTO_TEST_CASE(a_file_of_another_length_is_a_memory_that_is_lost) {
  for (const size_t size : {0u, 1u, 511u, 512u, 4096u, 4607u, 4608u, 8191u, 8193u, 100000u}) {
    const TemporaryFolder folder;
    const Uuid identity = prepare_slots(folder);
    std::string other = read_file(folder.state() / "state");
    other.resize(size);
    write_file(folder.state() / "state", other);
    const char* const flaw = size < kSlotBytes ? "is damaged in both of its slots"
                                               : "has not the length it was written with";
    check_starts_anew(folder, identity, flaw);
  }
}

BOOST_AUTO_TEST_CASE(files_of_two_processes_are_a_memory_that_is_lost) {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const Uuid identity = prepare_slots(folder);
  prepare_slots(other);
  fs::copy_file(other.state() / "identity", folder.state() / "identity",
                fs::copy_options::overwrite_existing);
  check_starts_anew(folder, identity, "is another process's than the file identity beside it");
}

BOOST_AUTO_TEST_CASE(a_slot_of_a_later_release_is_refused) {
  const TemporaryFolder folder;
  prepare_slots(folder);
  std::string file = read_file(folder.state() / "state");
  std::vector<uint8_t> slot(file.begin(), file.begin() + kSlotBytes);
  slot[8] = 2;
  store_little_endian(std::span(slot), kSlotBytes - 4,
                      crc32c(std::span(slot).first(kSlotBytes - 4)));
  file.replace(0, kSlotBytes, std::string(slot.begin(), slot.end()));
  write_file(folder.state() / "state", file);
  BOOST_TEST(error_of(folder.settings()).flaw() == "was written by a later release of Bellwether");
}

BOOST_AUTO_TEST_CASE(an_identity_that_is_none_is_repaired_from_the_state) {
  const TemporaryFolder folder;
  const Uuid identity = prepare_slots(folder);
  const std::string text = to_string(identity);
  std::string other_version = text;
  other_version[14] = '1';
  std::string upper_case = "AAAAAAAA" + text.substr(8);
  for (const std::string& bad :
       {std::string(), std::string("x"), text.substr(0, 35), text + "\n\n", text + "0",
        "{" + text.substr(0, 34) + "}", other_version, upper_case, std::string(36, '0')}) {
    write_file(folder.state() / "identity", bad);
    const StateStore store(folder.settings());
    BOOST_TEST((store.identity() == identity));
    BOOST_TEST(store.warnings().size() == 1u);
    BOOST_TEST(read_file(folder.state() / "identity") == text + "\n");
  }
  write_file(folder.state() / "identity", text);
  BOOST_TEST(StateStore(folder.settings()).warnings().empty());
}

BOOST_AUTO_TEST_CASE(garbage_of_any_seed_is_no_state) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(random() % 2 == 0 ? kStateFileBytes : random() % 10000);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    BOOST_TEST(!read_state_file(bytes).newest.has_value());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
