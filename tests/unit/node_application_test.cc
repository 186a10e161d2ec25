// The application leads, not the sidecar: who may lead while an application can work, what becomes
// of a leader whose application cannot, and the score in its rank.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "node_harness.hh"

namespace bellwether::tests {
namespace {

constexpr Application kGone{.ability = Ability::kAbsent};
constexpr Application kHung{.ability = Ability::kUnhealthy};
constexpr Application kHere{};

Application with_score(int64_t score) { return {.score = score}; }

// 5 of 1..5 leads, so that everybody else may succeed it.
struct LeaderAtWork : NodeHarness {
  explicit LeaderAtWork(const Options& options = {})
      : NodeHarness({.self = 5, .options = options}) {
    lead();
  }
};

MemberView list_of_five() {
  MemberView list{.version = {1, 5}, .entries = {}};
  for (uint32_t number = 1; number <= 5; ++number) list.entries.push_back(member_entry(number));
  return list;
}

// What `number`, in the life that it was met in, says of its application.
Wish word_of(uint32_t number, uint64_t revision, int64_t score, bool is_electable = true) {
  return {.variant = member_entry(number).variant,
          .boot = member_entry(number).boot,
          .revision = revision,
          .is_electable = is_electable,
          .ability = is_electable ? Ability::kAble : Ability::kAbsent,
          .score = score};
}

int64_t score_of(const NodeHarness& node, uint32_t number) {
  return node.node().members().find(uuid(number))->entry.score;
}

Ability ability_of(const NodeHarness& node, uint32_t number) {
  return node.node().members().find(uuid(number))->entry.ability;
}

bool may_lead(const NodeHarness& node, uint32_t number) {
  return node.node().members().find(uuid(number))->entry.is_electable;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_application)

// --- may it lead? ---

BOOST_AUTO_TEST_CASE(a_node_leads_only_while_its_application_can_work) {
  NodeHarness node({.self = 5});
  node.join();
  node.step(kGone);
  BOOST_TEST((node.node().obstacle() == Obstacle::kNoApplication));
  node.run_for(seconds(5));
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(!node.node().members().self().is_electable);
}

BOOST_AUTO_TEST_CASE(a_node_without_a_leader_elects_as_soon_as_its_application_can_work) {
  NodeHarness node({.self = 5});
  node.join();
  node.step(kGone);
  node.run_for(seconds(5));
  node.step(kHere);
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(priority_0_is_said_before_the_application) {
  NodeHarness node({.priority = 0});
  node.join();
  node.step(kGone);
  BOOST_TEST((node.node().obstacle() == Obstacle::kPriorityZero));
}

BOOST_AUTO_TEST_CASE(who_cannot_lead_takes_no_planned_handover_and_says_so_in_a_word_that_is_new) {
  NodeHarness node({.self = 4});
  node.follow(5, 1);
  const auto told = find_sent<Wish>(node.step(kHung));
  const Effects effects = node.receive(5, 1, PlannedHandover{}, 0);
  BOOST_TEST(published(effects) == "");
  const auto said = find_sent<Wish>(effects);
  BOOST_TEST_REQUIRE((told && said));
  BOOST_TEST(!said->is_electable);
  BOOST_TEST(said->revision > told->revision);
}

// --- a leader's application ends ---

BOOST_AUTO_TEST_CASE(the_flag_goes_off_and_then_the_next_in_line_is_asked) {
  LeaderAtWork node;
  const Effects effects = node.step(kGone);
  BOOST_TEST(everything(effects).starts_with("no leader, HANDOVER to 4"));
  BOOST_TEST(header_of_sent<PlannedHandover>(effects).released == 1u);
  BOOST_TEST((last_publish(effects)->why == Why::kApplicationLost));
}

// Whoever hears that the epoch is released elects.
BOOST_AUTO_TEST_CASE(all_are_told_but_nobody_else_that_it_leads_no_longer) {
  LeaderAtWork node;
  const Effects effects = node.step(kGone);
  const auto told = find_sent<Wish>(effects) ? effects : node.run_for(milliseconds(100));
  BOOST_TEST_REQUIRE(find_sent<Wish>(told).has_value());
  BOOST_TEST(!find_sent<Wish>(told)->is_electable);
  BOOST_TEST(header_of_sent<Wish>(told).released == 0u);
}

BOOST_AUTO_TEST_CASE(a_successor_that_cannot_is_not_waited_for) {
  LeaderAtWork node;
  node.step(kGone);
  BOOST_TEST(sent(node.receive(4, 1, word_of(4, 9, 0, false))) == "HANDOVER to 3");
}

BOOST_AUTO_TEST_CASE(one_that_hangs_is_another_reason) {
  LeaderAtWork node;
  BOOST_TEST((last_publish(node.step(kHung))->why == Why::kApplicationUnhealthy));
}

BOOST_AUTO_TEST_CASE(from_absent_to_unhealthy_nothing_more_follows) {
  LeaderAtWork node;
  node.step(kGone);
  BOOST_TEST(published(node.step(kHung)) == "");
}

BOOST_AUTO_TEST_CASE(where_nobody_can_lead_it_resigns) {
  NodeHarness node({.self = 5});
  node.join();
  for (const uint32_t other : {1u, 2u, 3u, 4u}) {
    node.receive(other, 0, word_of(other, 1, 0, false));
  }
  node.run_for(seconds(1));
  BOOST_REQUIRE(node.node().is_leading());
  BOOST_TEST(everything(node.step(kGone)).starts_with("no leader, RESIGN to 1"));
  BOOST_TEST(!node.node().is_handing_over());
}

BOOST_AUTO_TEST_CASE(an_application_that_is_back_does_not_make_it_its_own_successor) {
  LeaderAtWork node;
  node.step(kGone);
  node.step(kHere);
  node.run_for(milliseconds(250));
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(published(node.receive(4, 2, Coordinator{})) == "follows 4 in 2");
}

BOOST_AUTO_TEST_CASE(it_is_a_candidate_again_without_a_hold) {
  LeaderAtWork node({.preempt_delay = milliseconds(400)});
  node.step(kGone);
  node.receive(4, 2, Coordinator{});
  node.step(kHere);
  BOOST_TEST(node.node().may_lead());
  BOOST_TEST((node.wait_of(Timer::kPreempt) == milliseconds(400)));
}

// Twice within a minute is a crash loop.
BOOST_AUTO_TEST_CASE(leadership_does_not_follow_a_crash_loop) {
  LeaderAtWork node;
  node.step(kGone);
  node.receive(4, 2, Coordinator{});
  node.step(kHere);
  node.run_for(milliseconds(1));
  node.receive(4, 2, PlannedHandover{}, 2);
  BOOST_REQUIRE(node.node().is_leading());
  node.step(kGone);
  node.receive(4, 4, Coordinator{});
  node.step(kHere);
  BOOST_TEST((node.wait_of(Timer::kPreempt) >= seconds(1)));
}

BOOST_AUTO_TEST_CASE(who_steps_down_already_asks_nobody_again) {
  LeaderAtWork node;
  node.step(StepDown{.hold = seconds(30)});
  const Effects effects = node.step(kGone);
  BOOST_TEST(!find_sent<PlannedHandover>(effects).has_value());
  BOOST_TEST(node.node().is_handing_over());
}

// --- what others are told, and when ---

BOOST_AUTO_TEST_CASE(a_new_score_is_told_at_once_and_then_once_an_interval) {
  NodeHarness node;
  node.follow(5, 1);
  const Effects first = node.step(with_score(-7));
  BOOST_TEST(sent(first) == "WISH to 1, WISH to 2, WISH to 4, WISH to 5");
  BOOST_TEST(find_sent<Wish>(first)->score == -7);
  BOOST_TEST(sent(node.step(with_score(-8))) == "");
  BOOST_TEST(sent(node.step(with_score(-9))) == "");
  BOOST_TEST((node.wait_of(Timer::kTell) == milliseconds(100)));
  const Effects second = node.run_for(milliseconds(100));
  BOOST_TEST(sent(second) == "WISH to 1, WISH to 2, WISH to 4, WISH to 5");
  BOOST_TEST(find_sent<Wish>(second)->score == -9);
  BOOST_TEST(find_sent<Wish>(second)->revision == 3u);
}

BOOST_AUTO_TEST_CASE(who_is_able_again_says_so_sooner_than_a_score) {
  NodeHarness node;
  node.follow(5, 1);
  node.step(kGone);
  BOOST_TEST(sent(node.step(kHere)) == "");
  BOOST_TEST((node.wait_of(Timer::kTell) == milliseconds(10)));
}

BOOST_AUTO_TEST_CASE(the_same_again_is_no_news) {
  NodeHarness node;
  node.follow(5, 1);
  node.step(with_score(7));
  node.run_for(milliseconds(100));
  BOOST_TEST(everything(node.step(with_score(7))) == "");
}

BOOST_AUTO_TEST_CASE(a_followers_view_follows_the_members_own_word) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(4, 1, word_of(4, 1, 20, false));
  BOOST_TEST(score_of(node, 4) == 20);
  BOOST_TEST(!may_lead(node, 4));
  BOOST_TEST((ability_of(node, 4) == Ability::kAbsent));
}

// One that is connected to again says what it said when its connection began.
BOOST_AUTO_TEST_CASE(a_hello_that_is_older_than_the_members_word_does_not_take_it_back) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(4, 1, word_of(4, 2, 20, false));
  node.connect(NodeHarness::hello_of(4, 1));
  BOOST_TEST(score_of(node, 4) == 20);
  BOOST_TEST((ability_of(node, 4) == Ability::kAbsent));
}

BOOST_AUTO_TEST_CASE(all_are_told_what_keeps_its_application_from_work) {
  NodeHarness node;
  node.follow(5, 1);
  BOOST_TEST((find_sent<Wish>(node.step(kHung))->ability == Ability::kUnhealthy));
  BOOST_TEST((node.node().hello().self.ability == Ability::kUnhealthy));
}

BOOST_AUTO_TEST_CASE(of_two_words_the_later_one_counts_in_whatever_order_they_come) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(4, 1, word_of(4, 2, 20));
  node.receive(4, 1, word_of(4, 1, 10, false));
  BOOST_TEST(score_of(node, 4) == 20);
  BOOST_TEST(may_lead(node, 4));
}

BOOST_AUTO_TEST_CASE(the_word_of_an_earlier_life_counts_nothing) {
  NodeHarness node;
  node.follow(5, 1);
  Wish late = word_of(4, 9, 20);
  ++late.boot;
  node.receive(4, 1, late);
  BOOST_TEST(score_of(node, 4) == 0);
}

BOOST_AUTO_TEST_CASE(a_list_that_is_older_than_the_members_word_does_not_take_it_back) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(4, 1, word_of(4, 2, 20));
  MemberView list = list_of_five();
  node.receive(5, 1, MembersFrame{std::make_shared<MemberView>(list)});
  BOOST_TEST(score_of(node, 4) == 20);
  list.version.counter = 6;
  list.entries[3].score = 30;
  list.entries[3].revision = 3;
  node.receive(5, 1, MembersFrame{std::make_shared<MemberView>(list)});
  BOOST_TEST(score_of(node, 4) == 30);
}

// Its application may say another one a hundred times a second.
BOOST_AUTO_TEST_CASE(a_list_in_which_only_a_score_is_new_is_not_worth_a_line) {
  NodeHarness node;
  node.follow(5, 1);
  MemberView list = list_of_five();
  const auto remarks_at_the_next = [&] {
    ++list.version.counter;
    return reported<Remark>(node.receive(5, 1, MembersFrame{std::make_shared<MemberView>(list)}));
  };
  remarks_at_the_next();
  list.entries[3].score = 30;
  list.entries[3].revision = 3;
  BOOST_TEST(remarks_at_the_next() == "");
  BOOST_TEST(score_of(node, 4) == 30);
  list.entries.push_back(member_entry(6));
  BOOST_TEST(remarks_at_the_next() == "took over the list of members");
}

BOOST_AUTO_TEST_CASE(
    a_number_that_a_leader_made_up_does_not_make_anybody_deaf_to_the_members_word) {
  for (const bool is_connected : {true, false}) {
    NodeHarness node;
    node.follow(5, 1);
    if (!is_connected) node.step(LinkDown{uuid(4), LinkEvidence::kRefused});
    MemberView list = list_of_five();
    list.version.counter = 6;
    list.entries[3].revision = std::numeric_limits<uint64_t>::max();
    list.entries[3].score = 30;
    node.receive(5, 1, MembersFrame{std::make_shared<MemberView>(list)});
    if (!is_connected) node.connect(NodeHarness::hello_of(4, 1));
    BOOST_TEST(score_of(node, 4) == 0);
    node.receive(4, 1, word_of(4, 1, 20));
    BOOST_TEST(score_of(node, 4) == 20);
  }
}

BOOST_AUTO_TEST_CASE(whoever_reads_a_word_that_it_never_said_says_a_later_one) {
  NodeHarness node;
  node.follow(5, 1);
  MemberView list = list_of_five();
  for (const uint64_t made_up : {uint64_t{7}, std::numeric_limits<uint64_t>::max()}) {
    ++list.version.counter;
    list.entries[2].revision = made_up;
    list.entries[2].score = 30;
    node.receive(5, 1, MembersFrame{std::make_shared<MemberView>(list)});
    BOOST_TEST(node.node().members().self().revision == 8u);
    BOOST_TEST(score_of(node, 3) == 0);
  }
  const auto said = find_sent<Wish>(node.receive(5, 1, Heartbeat{.sequence = 1}));
  BOOST_TEST_REQUIRE(said.has_value());
  BOOST_TEST(said->revision == 8u);
}

BOOST_AUTO_TEST_CASE(
    the_words_of_a_new_life_count_from_the_first_also_where_a_list_named_it_before) {
  NodeHarness node;
  node.follow(5, 1);
  node.receive(4, 1, word_of(4, 9, 20, false));
  node.step(LinkDown{uuid(4), LinkEvidence::kRefused});
  MemberView list = list_of_five();
  Hello hello = NodeHarness::hello_of(4, 1);
  hello.self.boot = list.entries[3].boot += 1;
  node.receive(5, 1, MembersFrame{std::make_shared<MemberView>(list)});
  node.connect(hello);
  Wish word = word_of(4, 1, 30);
  word.boot = hello.self.boot;
  node.receive(4, 1, word);
  BOOST_TEST(score_of(node, 4) == 30);
  BOOST_TEST(may_lead(node, 4));
}

BOOST_AUTO_TEST_CASE(a_leaders_list_repeats_scores_but_not_with_every_beat) {
  LeaderAtWork node;
  const ViewVersion before = node.node().members().version();
  node.receive(4, 1, word_of(4, 1, -20), 0);
  node.run_for(milliseconds(100));
  const ViewVersion first = node.node().members().version();
  BOOST_TEST((before < first));
  node.receive(4, 1, word_of(4, 2, -30), 0);
  node.run_for(milliseconds(300));
  BOOST_TEST((node.node().members().version() == first));
}

// --- the score is a part of the rank ---

BOOST_AUTO_TEST_CASE(the_higher_score_is_asked_first) {
  LeaderAtWork node;
  node.receive(2, 1, word_of(2, 1, 10), 0);
  BOOST_TEST(sent(node.step(StepDown{})) == "HANDOVER to 2");
}

BOOST_AUTO_TEST_CASE(a_score_counts_once_the_election_is_over) {
  NodeHarness node;
  node.follow(5, 1);
  node.step(Elect{});
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_COLLECTING});
  BOOST_TEST(sent(node.step(with_score(7))) == "");
  node.receive_beat(4, 2);
  BOOST_TEST(score_of(node, 3) == 7);
}

BOOST_AUTO_TEST_CASE(a_priority_counts_more_than_a_score) {
  BOOST_TEST((Rank{.priority = 1, .score = 900} < Rank{.priority = 2, .score = -5}));
}

BOOST_AUTO_TEST_CASE(claims_carry_the_score_with_which_they_were_made) {
  NodeHarness node({.self = 5});
  node.join();
  node.step(with_score(7));
  node.run_for(seconds(1));
  BOOST_REQUIRE(node.node().is_leading());
  node.step(with_score(3));
  const Effects beats = node.run_for(milliseconds(200));
  BOOST_TEST(find_sent<Heartbeat>(beats)->score == 7);
  BOOST_TEST(node.node().hello().leader->score == 7);
  BOOST_TEST(node.node().hello().self.score == 3);
}

// Both claim epoch 3; by their scores of now 4 would be the higher one.
BOOST_AUTO_TEST_CASE(of_two_claims_of_an_epoch_the_one_counts_that_was_made_with_the_higher_score) {
  NodeHarness node({.self = 3});
  node.join();
  node.receive(2, 3, Coordinator{.score = 10});
  node.receive(4, 3, word_of(4, 1, 50));
  const Effects effects = node.receive(4, 3, Coordinator{.score = 5});
  BOOST_TEST(sent(effects) == "REFUSAL to 4");
  BOOST_TEST(node.role() == "follows 2 in 3");
}

BOOST_AUTO_TEST_CASE(a_higher_score_takes_over) {
  NodeHarness node({.self = 1});
  node.follow(5, 1);
  node.step(with_score(1));
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "asks 5");
}

BOOST_AUTO_TEST_CASE(within_the_margin_nobody_takes_over) {
  NodeHarness node({.self = 5, .options = {.score_margin = 10}});
  node.follow(1, 1);
  node.step(with_score(10));
  node.run_for(milliseconds(10));
  BOOST_TEST(node.role() == "follows 1 in 1");
  node.step(with_score(11));
  node.run_for(milliseconds(100));
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(with_a_margin_an_id_alone_is_no_reason_to_take_over) {
  NodeHarness node({.self = 5, .options = {.score_margin = 1}});
  node.follow(1, 1);
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_CASE(a_leaders_fall_makes_way) {
  NodeHarness node({.self = 5, .options = {.score_margin = 10}});
  node.follow(1, 1);
  node.receive(1, 1, word_of(1, 1, -11), 0);
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(by_priority_a_score_alone_does_not_take_over) {
  NodeHarness node({.self = 5, .options = {.preempt = Preempt::kPriority}});
  node.follow(1, 1);
  node.step(with_score(100));
  BOOST_TEST(!node.node().timers().is_armed(Timer::kPreempt));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
