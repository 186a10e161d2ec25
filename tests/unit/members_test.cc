// The list of members: rank order, the marks that the plugin sees, what is taken over from a view,
// and who is forgotten.
#include "core/members.hh"

#include <boost/test/unit_test.hpp>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

const Instant kNow{seconds(1000)};

// 3 is this process.
struct Group : Members {
  explicit Group(const std::vector<uint32_t>& others = {1, 2, 4, 5}) : Members(member_entry(3)) {
    for (const uint32_t number : others) put(member_entry(number), kNow);
  }
  std::string order() const {
    std::string words;
    for (const election_member& member : ranked()) {
      words += (words.empty() ? "" : " ") + std::to_string(number_of(to_uuid(member.id)));
    }
    return words;
  }
  Member& at(uint32_t number) { return *find(uuid(number)); }
  uint32_t marks_of(uint32_t number) const { return ranked()[index_of(uuid(number))].marks; }
  std::string liveness_of(uint32_t number) const {
    const Member* member = find(uuid(number));
    return member == nullptr ? "unknown" : name(member->entry.liveness);
  }
};

Group alone() { return Group(std::vector<uint32_t>{}); }

MemberView view_of(ViewVersion version, const std::vector<MemberEntry>& entries) {
  return {.version = version, .entries = entries};
}

MemberEntry with(MemberEntry entry, Liveness liveness) {
  entry.liveness = liveness;
  return entry;
}

constexpr ViewVersion kOlder{.epoch = 1, .counter = 9};
constexpr ViewVersion kOurs{.epoch = 2, .counter = 1};
constexpr ViewVersion kNewer{.epoch = 2, .counter = 2};

}  // namespace

BOOST_AUTO_TEST_SUITE(members)

// --- order ---

BOOST_AUTO_TEST_CASE(of_equal_priority_the_id_decides) {
  BOOST_TEST(Group(std::vector<uint32_t>{5, 1, 4, 2}).order() == "1 2 3 4 5");
}

BOOST_AUTO_TEST_CASE(priority_comes_before_the_id) {
  Group group;
  group.put(member_entry(1, 200), kNow);
  group.put(member_entry(5, 50), kNow);
  BOOST_TEST(group.order() == "5 2 3 4 1");
  BOOST_TEST(group.self_index() == 2u);
}

BOOST_AUTO_TEST_CASE(ids_compare_as_unsigned_bytes_from_the_left) {
  Group group = alone();
  MemberEntry high = member_entry(1);
  high.id.data[0] = 0xff;
  group.put(high, kNow);
  BOOST_TEST((group.id_at(1) == high.id));
}

BOOST_AUTO_TEST_CASE(an_index_finds_its_member_and_back) {
  const Group group;
  for (uint32_t index = 0; index < 5; ++index) {
    BOOST_TEST(group.index_of(group.id_at(index)) == index);
  }
  BOOST_TEST(group.index_of(uuid(9)) == ELECTION_NOBODY);
  BOOST_TEST((group.find(uuid(9)) == nullptr));
}

BOOST_AUTO_TEST_CASE(who_has_left_is_known_but_not_ranked) {
  Group group;
  group.set_liveness(group.at(5), Liveness::kLeft, kNow);
  BOOST_TEST(group.order() == "1 2 3 4");
  BOOST_TEST(group.index_of(uuid(5)) == ELECTION_NOBODY);
  BOOST_TEST(group.liveness_of(5) == "left");
  BOOST_TEST(group.all().size() == 5u);
}

// --- marks ---

BOOST_AUTO_TEST_CASE(everybody_who_is_not_alive_is_marked_suspect) {
  Group group;
  group.set_liveness(group.at(1), Liveness::kSuspect, kNow);
  group.set_liveness(group.at(2), Liveness::kDown, kNow);
  BOOST_TEST((group.marks_of(1) & ELECTION_MEMBER_SUSPECT) != 0u);
  BOOST_TEST((group.marks_of(2) & ELECTION_MEMBER_SUSPECT) != 0u);
  BOOST_TEST((group.marks_of(4) & ELECTION_MEMBER_SUSPECT) == 0u);
}

BOOST_AUTO_TEST_CASE(who_may_lead_is_marked_electable) {
  Group group;
  BOOST_TEST((group.marks_of(4) & ELECTION_MEMBER_ELECTABLE) != 0u);
  group.set_electable(group.at(4), false);
  group.set_self_electable(false);
  BOOST_TEST((group.marks_of(4) & ELECTION_MEMBER_ELECTABLE) == 0u);
  BOOST_TEST((group.marks_of(3) & ELECTION_MEMBER_ELECTABLE) == 0u);
}

BOOST_AUTO_TEST_CASE(a_change_says_so_and_a_repetition_does_not) {
  Group group;
  BOOST_TEST(group.set_liveness(group.at(1), Liveness::kSuspect, kNow));
  BOOST_TEST(!group.set_liveness(group.at(1), Liveness::kSuspect, kNow));
  BOOST_TEST(group.set_electable(group.at(1), false));
  BOOST_TEST(!group.set_electable(group.at(1), false));
}

BOOST_AUTO_TEST_CASE(living_candidates_above_this_process_are_counted) {
  Group group;
  BOOST_TEST(group.living_candidates_above_self() == 2u);
  group.set_electable(group.at(4), false);
  BOOST_TEST(group.living_candidates_above_self() == 1u);
  group.set_liveness(group.at(5), Liveness::kSuspect, kNow);
  BOOST_TEST(group.living_candidates_above_self() == 0u);
}

// --- its size ---

BOOST_AUTO_TEST_CASE(the_longest_lease_is_that_of_whoever_may_lead_again) {
  Group group;
  MemberEntry other = member_entry(4);
  other.lease = seconds(5);
  group.put(other, kNow);
  group.set_liveness(group.at(4), Liveness::kDown, kNow);
  BOOST_TEST((group.longest_lease() == other.lease));
  group.set_liveness(group.at(4), Liveness::kLeft, kNow);
  BOOST_TEST((group.longest_lease() == Duration{}));
}

BOOST_AUTO_TEST_CASE(a_group_has_at_most_so_many_members) {
  Group group = alone();
  for (uint32_t number = 4; group.all().size() < kMaxMembers; ++number) {
    BOOST_REQUIRE((group.put(member_entry(number), kNow) != nullptr));
  }
  BOOST_TEST((group.put(member_entry(5000), kNow) == nullptr));
  BOOST_TEST((group.put(member_entry(4, 200), kNow) != nullptr));  // known ones may change
  BOOST_TEST(group.ranked().size() == kMaxMembers);
}

// --- views ---

BOOST_AUTO_TEST_CASE(a_view_lists_everybody_and_is_made_anew_only_after_a_change) {
  Group group;
  const auto before = group.view();
  BOOST_TEST(before->entries.size() == 5u);
  BOOST_TEST((group.view() == before));
  group.set_liveness(group.at(1), Liveness::kSuspect, kNow);
  BOOST_TEST((group.view() != before));
  BOOST_TEST((before->entries[0].liveness == Liveness::kAlive));  // what was sent stays
}

BOOST_AUTO_TEST_CASE(versions_compare_by_epoch_and_then_by_counter) {
  BOOST_TEST((kOlder < kOurs));
  BOOST_TEST((kOurs < kNewer));
  Group group;
  group.begin_view(7);
  BOOST_TEST((group.version() == ViewVersion{7, 1}));
  group.bump_view();
  BOOST_TEST((group.version() == ViewVersion{7, 2}));
  BOOST_TEST((group.view()->version == group.version()));
}

BOOST_AUTO_TEST_CASE(a_new_leaders_list_is_newer_whatever_its_number) {
  Group group;
  group.load(view_of(kNewer, {}));
  group.expect_new_list();
  BOOST_TEST(group.merge(view_of(kOlder, {member_entry(6)}), kNow));
  BOOST_TEST((group.version() == kOlder));
  BOOST_TEST(group.order() == "3 6");
}

BOOST_AUTO_TEST_CASE(an_older_view_can_only_add_members) {
  Group group;
  group.load(view_of(kOurs, {}));
  BOOST_TEST(group.merge(view_of(kOlder, {member_entry(6), member_entry(5, 7)}), kNow));
  BOOST_TEST(group.order() == "1 2 3 4 5 6");
  BOOST_TEST((group.version() == kOurs));
  BOOST_TEST(!group.merge(view_of(kOlder, {member_entry(6)}), kNow));
}

BOOST_AUTO_TEST_CASE(a_newer_view_is_the_groups_list) {
  Group group;
  group.load(view_of(kOurs, {}));
  BOOST_TEST(
      group.merge(view_of(kNewer, {member_entry(1), member_entry(3), member_entry(5, 200)}), kNow));
  BOOST_TEST(group.order() == "1 3 5");
  BOOST_TEST(group.at(5).entry.priority == 200u);
  BOOST_TEST((group.version() == kNewer));
}

BOOST_AUTO_TEST_CASE(who_is_connected_here_stays_even_if_a_view_does_not_list_it) {
  Group group;
  group.at(4).is_connected = true;
  group.merge(view_of(kNewer, {member_entry(3)}), kNow);
  BOOST_TEST(group.order() == "3 4");
}

BOOST_AUTO_TEST_CASE(who_is_silent_is_dropped_with_the_view_even_if_its_connection_lingers) {
  Group group;
  group.at(4).is_connected = true;
  group.merge(view_of(kNewer, {member_entry(3), with(member_entry(4), Liveness::kDown)}), kNow);
  BOOST_TEST(group.liveness_of(4) == "suspect");
  group.merge(view_of({.epoch = 2, .counter = 3}, {member_entry(3)}), kNow);
  BOOST_TEST(group.liveness_of(4) == "unknown");
}

BOOST_AUTO_TEST_CASE(this_process_is_never_dropped_or_changed_by_a_view) {
  Group group;
  group.merge(view_of(kNewer, {with(member_entry(3, 7), Liveness::kDown)}), kNow);
  BOOST_TEST((group.self() == member_entry(3)));
  group.merge(view_of({.epoch = 9}, {member_entry(5)}), kNow);
  BOOST_TEST(group.order() == "3 5");
}

BOOST_AUTO_TEST_CASE(of_who_is_connected_here_a_view_says_only_who_is_suspect_and_who_may_lead) {
  Group group;
  for (const uint32_t number : {1u, 4u, 5u}) group.at(number).is_connected = true;
  MemberEntry unelectable = member_entry(1, 7);
  unelectable.is_electable = false;
  group.merge(view_of(kNewer, {unelectable, with(member_entry(4), Liveness::kSuspect),
                               with(member_entry(5), Liveness::kDown)}),
              kNow);
  BOOST_TEST(group.liveness_of(4) == "suspect");
  BOOST_TEST(group.liveness_of(5) == "suspect");  // that it is down its connection would have told
  BOOST_TEST(!group.at(1).entry.is_electable);
  BOOST_TEST(group.at(1).entry.priority == 100u);
}

BOOST_AUTO_TEST_CASE(a_view_takes_suspicion_back) {
  Group group;
  group.at(4).is_connected = true;
  group.set_liveness(group.at(4), Liveness::kSuspect, kNow);
  group.merge(view_of(kNewer, {member_entry(4)}), kNow);
  BOOST_TEST(group.liveness_of(4) == "alive");
}

BOOST_AUTO_TEST_CASE(who_is_connected_here_has_not_left) {
  Group group;
  group.at(4).is_connected = true;
  group.merge(view_of(kNewer, {with(member_entry(4), Liveness::kLeft)}), kNow);
  BOOST_TEST(group.liveness_of(4) == "alive");
}

BOOST_AUTO_TEST_CASE(suspicion_of_another_life_is_not_believed) {
  Group group;
  group.at(4).is_connected = true;
  group.merge(view_of(kNewer, {with(member_entry(4, 100, 77), Liveness::kSuspect)}), kNow);
  BOOST_TEST(group.liveness_of(4) == "alive");
}

BOOST_AUTO_TEST_CASE(who_has_left_is_not_added_by_a_view) {
  Group group;
  BOOST_TEST(!group.merge(
      view_of(kOlder, {with(member_entry(6), Liveness::kLeft), member_entry(1), member_entry(2),
                       member_entry(3), member_entry(4), member_entry(5)}),
      kNow));
  BOOST_TEST(group.liveness_of(6) == "unknown");
}

BOOST_AUTO_TEST_CASE(a_view_can_say_that_a_member_has_left) {
  Group group;
  group.merge(view_of(kNewer, {with(member_entry(5), Liveness::kLeft), member_entry(4)}), kNow);
  BOOST_TEST(group.liveness_of(5) == "left");
  BOOST_TEST(group.order() == "3 4");
}

BOOST_AUTO_TEST_CASE(a_view_fills_the_group_no_further_than_it_may_be) {
  Group group = alone();
  MemberView many;
  for (uint32_t number = 4; number < 1500; ++number) many.entries.push_back(member_entry(number));
  group.merge(many, kNow);
  BOOST_TEST(group.all().size() == kMaxMembers);
}

// This process has forgotten another one than the leader has.
BOOST_AUTO_TEST_CASE(a_full_group_takes_over_a_full_list_with_those_that_are_gone) {
  Group group = alone();
  MemberView list = view_of(kNewer, {member_entry(3), with(member_entry(5000), Liveness::kDown)});
  for (uint32_t number = 4; group.all().size() < kMaxMembers; ++number) {
    const MemberEntry gone = with(member_entry(number), Liveness::kDown);
    group.put(gone, kNow);
    if (number != 4) list.entries.push_back(gone);
  }
  group.merge(list, kNow);
  BOOST_TEST(group.liveness_of(4) == "unknown");
  BOOST_TEST(group.liveness_of(5000) == "down");
}

BOOST_AUTO_TEST_CASE(what_was_stored_is_loaded_as_suspect) {
  Group group = alone();
  group.load(view_of(
      kOurs, {member_entry(1), with(member_entry(2), Liveness::kLeft), member_entry(3, 7)}));
  BOOST_TEST(group.order() == "1 3");
  BOOST_TEST(group.liveness_of(1) == "suspect");
  BOOST_TEST(group.self().priority == 100u);
  BOOST_TEST((group.version() == kOurs));
}

// --- who is forgotten ---

BOOST_AUTO_TEST_CASE(who_has_not_been_alive_for_long_is_forgotten) {
  Group group;
  group.set_liveness(group.at(1), Liveness::kDown, kNow);
  group.set_liveness(group.at(2), Liveness::kLeft, kNow);
  group.set_liveness(group.at(4), Liveness::kSuspect, kNow);
  BOOST_TEST(!group.forget(kNow, kNow));
  BOOST_TEST(group.forget(kNow + seconds(1), kNow + seconds(1)));
  BOOST_TEST(group.order() == "3 5");
  for (const uint32_t number : {1u, 2u, 4u}) BOOST_TEST(group.liveness_of(number) == "unknown");
}

// Its host is gone, and nothing that would break the connection has been sent since.
BOOST_AUTO_TEST_CASE(a_connection_that_nobody_has_been_heard_on_keeps_nobody) {
  Group group;
  group.at(1).is_connected = true;
  group.at(2).is_connected = true;
  group.set_liveness(group.at(1), Liveness::kSuspect, kNow);
  BOOST_TEST(group.forget(kNow + seconds(1), kNow + seconds(1)));
  BOOST_TEST(group.liveness_of(1) == "unknown");
  BOOST_TEST(group.liveness_of(2) == "alive");
}

BOOST_AUTO_TEST_CASE(what_was_stored_is_not_forgotten_before_its_time) {
  Group group = alone();
  group.load(view_of(kOurs, {member_entry(1)}));
  group.start(kNow);
  BOOST_TEST(!group.forget(kNow, kNow));
  BOOST_TEST(group.forget(kNow + seconds(1), kNow + seconds(1)));
}

// Who has called may still use it: it is a member no more, and whatever is said of it is no change.
BOOST_AUTO_TEST_CASE(who_was_forgotten_is_there_until_the_end_of_the_step) {
  Group group;
  Member& gone = group.at(4);
  group.set_liveness(gone, Liveness::kDown, kNow);
  BOOST_TEST_REQUIRE(group.forget(kNow + seconds(1), kNow + seconds(1)));
  BOOST_TEST_REQUIRE(group.forgotten().size() == 1u);
  BOOST_TEST(&group.forgotten().front() == &gone);
  BOOST_TEST(!group.set_liveness(gone, Liveness::kAlive, kNow));
  BOOST_TEST(!group.set_electable(gone, !gone.entry.is_electable));
  BOOST_TEST(!group.set_variant(gone, "another"));
  BOOST_TEST(!group.set_worth(gone, gone.entry.ability, 7, gone.entry.revision + 1));
  BOOST_TEST((gone.entry.liveness == Liveness::kDown));
  BOOST_TEST(group.order() == "1 2 3 5");
  group.begin_step();
  BOOST_TEST(group.forgotten().empty());
}

// --- where there are voters ---

std::string name_of(uint32_t number) { return member_entry(number).name; }

BOOST_AUTO_TEST_CASE(a_late_view_does_not_bring_an_older_identity_back) {
  Group group({5});
  group.at(5).is_connected = true;
  MemberEntry older = member_entry(8), own = member_entry(9), other = member_entry(7);
  older.name = "node-5";
  own.name = "node-3";
  group.merge(view_of(kNewer, {older, own, other}), kNow);
  BOOST_TEST(group.order() == "3 5 7");
  group.at(5).is_connected = false;
  group.merge(view_of(kOlder, {older}), kNow);
  BOOST_TEST(group.order() == "3 5 7 8");
}

BOOST_AUTO_TEST_CASE(whoever_was_listed_before_it_was_known_here_need_not_be_told) {
  Group group({4, 5});
  Member& older = group.at(4);
  older.is_connected = true;
  MemberEntry newer = member_entry(9);
  newer.name = older.entry.name;
  group.merge(view_of(kNewer, {member_entry(3), newer, member_entry(5)}), kNow);
  BOOST_TEST(group.knows_more_than_listed());
  older.is_connected = false;
  group.put(newer, kNow)->is_connected = true;
  group.supersede(group.at(9));
  BOOST_TEST(!group.knows_more_than_listed());
}

BOOST_AUTO_TEST_CASE(nor_who_was_forgotten_meanwhile) {
  Group group({5});
  group.merge(view_of(kNewer, {member_entry(3), member_entry(5)}), kNow);
  group.set_liveness(group.at(5), Liveness::kSuspect, kNow);
  BOOST_TEST_REQUIRE(group.forget(kNow + seconds(1), kNow + seconds(1)));
  group.put(member_entry(5), kNow)->is_connected = true;
  BOOST_TEST(!group.knows_more_than_listed());
}

BOOST_AUTO_TEST_CASE(a_view_does_not_take_a_voters_name_from_who_has_shown_it) {
  Members group(member_entry(3), Electorate({"node-3", "node-4", "node-5"}));
  MemberEntry renamed = member_entry(5);
  renamed.name = "node-4";
  for (const bool was_linked : {false, true}) {
    Member& five = *group.put(member_entry(5), kNow);
    five.was_linked = was_linked;
    group.merge(view_of({.epoch = was_linked ? 2u : 1u, .counter = 1}, {renamed}), kNow);
    BOOST_TEST(five.entry.name == (was_linked ? "node-5" : "node-4"));
  }
}

BOOST_AUTO_TEST_CASE(nobody_but_voters_can_lead_whatever_it_says) {
  Members group(member_entry(3), Electorate({name_of(1), name_of(2), name_of(3)}));
  for (const uint32_t number : {1u, 5u}) group.put(member_entry(number), kNow);
  BOOST_TEST(group.find(uuid(1))->entry.is_electable);
  BOOST_TEST(!group.find(uuid(5))->entry.is_electable);
  BOOST_TEST(!group.set_electable(*group.find(uuid(5)), true));
  MemberEntry again = member_entry(5, 9);
  group.put(again, kNow);
  BOOST_TEST(!group.find(uuid(5))->entry.is_electable);
  BOOST_TEST(group.living_candidates_above_self() == 0u);
}

// A crowd of strangers while one is away for a moment.
BOOST_AUTO_TEST_CASE(there_is_always_room_for_voters) {
  Members group(member_entry(3), Electorate({name_of(1), name_of(2), name_of(3)}));
  group.put(with(member_entry(1), Liveness::kDown), kNow);
  uint32_t strangers = 0;
  while (group.put(member_entry(10 + strangers), kNow) != nullptr) ++strangers;
  BOOST_TEST(strangers == kMaxMembers - 3);
  BOOST_TEST(group.find(uuid(1)) != nullptr);
  BOOST_TEST(group.put(member_entry(2), kNow) != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
