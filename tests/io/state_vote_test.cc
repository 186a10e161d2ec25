// What a voter keeps over a restart, and when it knows that it has forgotten what it granted.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "core/lease.hh"
#include "io/state/state_files.hh"
#include "io/state/state_store.hh"
#include "state_folder.hh"

namespace bellwether::io::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr uint64_t kVoters = 77;

StateSettings voter_settings(const TemporaryFolder& folder, uint64_t voters = kVoters) {
  StateSettings settings = folder.settings();
  settings.voters = voters;
  return settings;
}

Uuid some_id() {
  Uuid id;
  std::ranges::fill(id, uint8_t{9});
  return id;
}

Record some_record() {
  return {.max_epoch = 7, .granted_to = some_id(), .lease_seen = milliseconds(1500)};
}

// A voter that has found out what it may have granted, and has granted since.
void prepare_voter(const TemporaryFolder& folder) {
  StateStore store(voter_settings(folder));
  BOOST_REQUIRE(!store.store(some_record()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(state_vote)

BOOST_AUTO_TEST_CASE(a_vote_and_the_longest_lease_are_found_again) {
  const TemporaryFolder folder;
  prepare_voter(folder);
  const StateStore store(voter_settings(folder));
  BOOST_TEST((store.record() == some_record()));
  BOOST_TEST(!store.is_vote_lost());
  BOOST_TEST(store.warnings().empty());
}

// A promise that is kept as shorter than it was could end too early.
BOOST_AUTO_TEST_CASE(a_lease_is_kept_as_at_least_as_long_as_it_was) {
  for (const Duration lease : {Duration(1), Duration(999'999), Duration(1'000'001)}) {
    const auto slot = unpack(pack({.group = "orders", .record = {.lease_seen = lease}}));
    BOOST_REQUIRE(slot.has_value());
    BOOST_TEST((slot->record.lease_seen >= lease));
    BOOST_TEST((slot->record.lease_seen < lease + milliseconds(1)));
  }
  BOOST_TEST((unpack(pack({.group = "orders"}))->record.lease_seen == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(an_empty_folder_is_a_voter_that_has_forgotten_what_it_granted) {
  const TemporaryFolder folder;
  BOOST_TEST(StateStore(voter_settings(folder)).is_vote_lost());
}

// It has a file by then, but not what it had forgotten: neither after its end, nor after it has
// followed a leader meanwhile.
BOOST_AUTO_TEST_CASE(a_voter_that_has_forgotten_does_not_remember_by_a_restart) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(StateStore(voter_settings(folder)).is_vote_lost());
  {
    StateStore store(voter_settings(folder));
    BOOST_REQUIRE(store.is_vote_lost());
    BOOST_REQUIRE(!store.store({.max_epoch = 5}, true));
  }
  {
    StateStore store(voter_settings(folder));
    BOOST_TEST(store.record().max_epoch == 5u);
    BOOST_REQUIRE(store.is_vote_lost());
    BOOST_REQUIRE(!store.store({.max_epoch = 6}));  // it has asked the others
  }
  BOOST_TEST(!StateStore(voter_settings(folder)).is_vote_lost());
}

BOOST_AUTO_TEST_CASE(damage_makes_a_voter_that_has_forgotten) {
  const TemporaryFolder folder;
  prepare_voter(folder);
  fs::remove(folder.state() / "state");
  BOOST_TEST(StateStore(voter_settings(folder)).is_vote_lost());
  BOOST_TEST(StateStore(voter_settings(folder)).is_vote_lost());
}

BOOST_AUTO_TEST_CASE(one_damaged_slot_makes_a_voter_that_has_forgotten) {
  for (const size_t place : {size_t{0}, kSlotStride}) {
    const TemporaryFolder folder;
    prepare_voter(folder);
    std::string file = read_file(folder.state() / "state");
    file.replace(place, 5, "hello");
    write_file(folder.state() / "state", file);
    BOOST_TEST(StateStore(voter_settings(folder)).is_vote_lost());
  }
}

BOOST_AUTO_TEST_CASE(
    a_vote_among_other_voters_is_refused_until_the_operator_says_that_they_are_gone) {
  const TemporaryFolder folder;
  prepare_voter(folder);
  const FileError error = error_of(voter_settings(folder, kVoters + 1));
  BOOST_TEST(error.flaw() == "was written under another name or among other [voters]");
  BOOST_TEST(error.remedy().find("--forget-promises") != std::string::npos);
  BOOST_TEST(!StateStore(voter_settings(folder)).is_vote_lost());  // nothing has changed

  StateSettings settings = voter_settings(folder, kVoters + 1);
  settings.forget_promises = true;
  {
    const StateStore store(settings);
    BOOST_TEST(!store.is_vote_lost());
    BOOST_TEST((store.record() == Record{.max_epoch = 7, .lease_seen = kMaxLease}));
  }
  BOOST_CHECK_NO_THROW(StateStore(voter_settings(folder, kVoters + 1)));
  error_of(voter_settings(folder));
}

// It has heard of epochs, but nothing says who granted them.
BOOST_AUTO_TEST_CASE(what_was_written_without_a_vote_is_refused_if_there_was_a_leader) {
  const TemporaryFolder folder;
  {
    StateStore store(folder.settings());
    BOOST_REQUIRE(!store.is_vote_lost());
  }
  BOOST_TEST(StateStore(voter_settings(folder)).is_vote_lost());
  {
    StateStore store(folder.settings());
    BOOST_REQUIRE(!store.store({.max_epoch = 3}));
  }
  BOOST_TEST(error_of(voter_settings(folder)).flaw() ==
             "was written when this process had no vote");
  BOOST_CHECK_NO_THROW(StateStore(folder.settings()));
}

// The file of a release that knew no voters has zeros where these fields are now.
BOOST_AUTO_TEST_CASE(a_file_of_the_first_release_is_read) {
  const auto slot = unpack(pack({.sequence = 3, .group = "orders", .record = {.max_epoch = 4}}));
  BOOST_REQUIRE(slot.has_value());
  BOOST_TEST((slot->record == Record{.max_epoch = 4}));
  BOOST_TEST(slot->voters == kNotAVoter);
}

BOOST_AUTO_TEST_CASE(by_order_promises_are_forgotten_for_good_but_not_before_they_are_over) {
  const TemporaryFolder folder;
  StateSettings settings = voter_settings(folder);
  settings.forget_promises = true;
  {
    const StateStore store(settings);
    BOOST_TEST(!store.is_vote_lost());
    BOOST_TEST((store.record().lease_seen == kMaxLease));
    BOOST_TEST(store.warnings().size() == 1u);
  }
  const StateStore store(voter_settings(folder));
  BOOST_TEST(!store.is_vote_lost());
  BOOST_TEST((store.record().lease_seen == kMaxLease));
}

BOOST_AUTO_TEST_CASE(the_order_to_forget_promises_does_nothing_to_a_voter_that_remembers) {
  const TemporaryFolder folder;
  prepare_voter(folder);
  StateSettings settings = voter_settings(folder);
  settings.forget_promises = true;
  const StateStore store(settings);
  BOOST_TEST((store.record() == some_record()));
  BOOST_TEST(store.warnings().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
