// A leader under guard "majority": how long it leads, and how it ends.  The node is 5 of 1..5,
// leads epoch 1 by the grants of 1 and 2, and its lease is one second: it believes in 800 ms of it.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_lease)

namespace {

struct Leader : GuardHarness {
  explicit Leader(Options options = {}) : GuardHarness({.self = 5, .options = std::move(options)}) {
    lead();
  }

  // Interval by interval, `voters` promise on receipt of each beat.
  void lead_for(Duration duration, std::initializer_list<uint32_t> voters) {
    for (Duration passed{}; passed < duration; passed += milliseconds(100)) {
      run_for(milliseconds(100));
      for (const uint32_t voter : voters) receive_promise(voter);
    }
  }
  // How long the flag holds if nothing else is heard.
  Duration valid_for() const { return node().valid_until() - now(); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_grants_are_the_first_promises_and_count_from_the_claim) {
  GuardHarness node({.self = 5});
  node.claim();
  node.run_for(milliseconds(50));
  node.receive_grant(1);
  const auto publish = last_publish(node.receive_grant(2));
  BOOST_REQUIRE(publish.has_value());
  BOOST_TEST(publish->is_leader);
  BOOST_TEST((publish->valid_until - node.now() == milliseconds(750)));
}

BOOST_AUTO_TEST_CASE(every_beat_that_a_majority_answers_makes_it_longer) {
  Leader node;
  node.lead_for(seconds(10), {1, 2});
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST((node.valid_for() == milliseconds(800)));
}

BOOST_AUTO_TEST_CASE(an_answer_counts_from_the_sending_of_its_beat) {
  Leader node;
  node.run_for(milliseconds(100));
  const uint64_t sequence = node.node().sequence();
  node.run_for(milliseconds(60));
  for (const uint32_t voter : {1u, 2u}) node.receive_promise(voter, sequence);
  BOOST_TEST((node.valid_for() == milliseconds(740)));
}

BOOST_AUTO_TEST_CASE(the_flag_is_published_anew_with_each_extension) {
  Leader node;
  node.run_for(milliseconds(100));
  node.receive_promise(1);
  const auto publish = last_publish(node.receive_promise(2));
  BOOST_REQUIRE(publish.has_value());
  BOOST_TEST((publish->valid_until == node.node().valid_until()));
}

BOOST_AUTO_TEST_CASE(one_voter_of_four_others_does_not_make_it_longer) {
  Leader node;
  node.run_for(milliseconds(100));
  for (int i = 0; i < 3; ++i) node.receive_promise(1);
  BOOST_TEST((node.valid_for() == milliseconds(700)));
}

BOOST_AUTO_TEST_CASE(an_answer_without_a_promise_does_not_make_it_longer) {
  Leader node;
  node.run_for(milliseconds(100));
  const uint64_t sequence = node.node().sequence();
  for (const uint32_t voter : {1u, 2u, 3u}) {
    node.receive(voter, 1, HeartbeatAck{.sequence = sequence, .is_electable = true}, 1);
  }
  BOOST_TEST((node.valid_for() == milliseconds(700)));
}

BOOST_AUTO_TEST_CASE(a_promise_of_another_epoch_does_not_make_it_longer) {
  Leader node;
  node.run_for(milliseconds(100));
  const uint64_t sequence = node.node().sequence();
  for (const uint32_t voter : {1u, 2u, 3u}) {
    node.receive(voter, 1, HeartbeatAck{.sequence = sequence, .promised_epoch = 9}, 1);
  }
  BOOST_TEST((node.valid_for() == milliseconds(700)));
}

BOOST_AUTO_TEST_CASE(a_late_or_repeated_promise_does_not_make_it_longer) {
  Leader node;
  node.run_for(milliseconds(100));
  const uint64_t sequence = node.node().sequence();
  for (const uint32_t voter : {1u, 2u}) node.receive_promise(voter, sequence);
  node.run_for(milliseconds(300));
  for (const uint32_t voter : {1u, 2u}) node.receive_promise(voter, sequence);
  BOOST_TEST((node.valid_for() == milliseconds(500)));
}

// --- the end ---

BOOST_AUTO_TEST_CASE(without_promises_the_flag_goes_off_before_it_resigns) {
  Leader node;
  node.run_for(milliseconds(799));
  BOOST_TEST(node.role() == "leads in 1");
  const Effects effects = node.run_for(milliseconds(1));
  BOOST_TEST(everything(effects).starts_with("no leader, RESIGN to 1"));
  BOOST_TEST(header_of_sent<Resign>(effects).released == 1u);
  BOOST_TEST(reported<TimedOut>(effects).starts_with("lease"));
}

BOOST_AUTO_TEST_CASE(who_has_stepped_down_is_silent_and_does_not_resume_its_epoch) {
  Leader node;
  node.run_for(milliseconds(800));
  for (const uint32_t voter : {1u, 2u, 3u, 4u}) {
    node.receive(voter, 1, HeartbeatAck{.sequence = node.node().sequence(), .promised_epoch = 1},
                 1);
  }
  BOOST_TEST(!node.node().is_leading());
  BOOST_TEST(!find_sent<Heartbeat>(node.run_for(milliseconds(150))).has_value());
}

// What wakes it may be a frame, and an answer to that as a leader would be a lie.
BOOST_AUTO_TEST_CASE(who_was_stopped_for_longer_steps_down_before_it_does_anything_else) {
  Leader node;
  node.pass(seconds(3));
  const Effects effects = node.receive_canvass(1);
  BOOST_TEST(everything(effects).starts_with("no leader, RESIGN to 1"));
  BOOST_REQUIRE(find_sent<CanvassReply>(effects).has_value());
  BOOST_TEST(!find_sent<CanvassReply>(effects)->leader.has_value());
}

BOOST_AUTO_TEST_CASE(promises_that_waited_while_it_was_stopped_save_nothing) {
  Leader node;
  node.run_for(milliseconds(100));
  node.pass(seconds(3));
  for (const uint32_t voter : {1u, 2u, 3u, 4u}) node.receive_promise(voter);
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_short_stop_costs_nothing) {
  Leader node;
  node.run_for(milliseconds(100));
  node.pass(milliseconds(500));
  for (const uint32_t voter : {1u, 2u}) node.receive_promise(voter);
  node.run_for(milliseconds(250));
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(the_flag_goes_off_before_another_claim_is_granted) {
  GuardHarness node({.self = 3, .priority = 200});
  node.lead();
  Hello higher = NodeHarness::hello_of(4);
  higher.self.priority = 300;
  higher.voters = node.terms().voters;
  node.connect(higher);
  BOOST_TEST(everything(node.receive_claim(4, 2)).starts_with("no leader, store 2"));
  const Effects effects = node.disk_has_it();
  BOOST_TEST(sent(effects) == "GRANT to 4");
  BOOST_TEST(header_of_sent<Grant>(effects).released == 2u);
}

BOOST_AUTO_TEST_CASE(a_lower_candidate_does_not_depose_it) {
  Leader node;
  const Effects effects = node.receive_claim(4, 2);
  BOOST_REQUIRE(find_sent<Grant>(effects).has_value());
  BOOST_TEST(!find_sent<Grant>(effects)->is_granted);
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(who_wins_an_election_while_it_leads_just_leads_on) {
  Leader node;
  const Effects effects = node.step(Elect{});
  BOOST_TEST(published(effects) == "");
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(node.max_epoch() == 1u);
}

// --- a voter that stands aside ---

// It has granted a claim that failed, in a newer epoch, and can never support this reign.
BOOST_AUTO_TEST_CASE(a_stuck_voter_is_put_up_with_for_five_seconds_and_then_brought_back) {
  Leader node;
  const auto refuse = [&] {
    node.receive(4, 2, HeartbeatAck{.sequence = node.node().sequence(), .refusal = Refusal{1, {}}},
                 2);
  };
  for (int i = 0; i < 50; ++i) {
    refuse();
    node.lead_for(milliseconds(100), {1, 2});
    BOOST_REQUIRE(node.role() == "leads in 1");
  }
  refuse();
  BOOST_TEST(!node.node().is_leading());
  node.run_for(Duration::zero());
  node.receive_opinion(1, true, 2);
  node.receive_opinion(2, true, 2);
  BOOST_TEST(node.role() == "claims 3");
}

BOOST_AUTO_TEST_CASE(a_stuck_voter_is_brought_back_however_rarely_the_leader_beats) {
  Leader node({.heartbeat_interval = milliseconds(1500),
               .suspect_after_min = seconds(5),
               .suspect_after_max = seconds(7),
               .lease = seconds(9)});
  for (int i = 0; i < 5 && node.node().is_leading(); ++i) {
    node.receive(4, 2, HeartbeatAck{.sequence = node.node().sequence(), .refusal = Refusal{1, {}}},
                 2);
    node.lead_for(milliseconds(1500), {1, 2});
  }
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_voter_that_refuses_now_and_then_is_not_stuck) {
  Leader node;
  for (int i = 0; i < 10; ++i) {
    node.receive(4, 2, HeartbeatAck{.sequence = node.node().sequence(), .refusal = Refusal{1, {}}},
                 2);
    node.lead_for(seconds(2), {1, 2});
  }
  BOOST_TEST(node.role() == "leads in 1");
}

// --- the disk of a leader ---

BOOST_AUTO_TEST_CASE(a_leader_whose_disk_breaks_may_finish_its_reign) {
  Leader node;
  node.disk_fails();
  node.lead_for(seconds(2), {1, 2});
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(!node.node().may_lead());
}

BOOST_AUTO_TEST_CASE(once_its_disk_works_again_the_others_hear_that_it_may_lead) {
  Leader node;
  node.disk_fails();
  node.connect(6);
  node.lead_for(milliseconds(100), {1, 2});
  const auto says_it_may_lead = [&node] {
    const auto list = find_sent<MembersFrame>(node.acknowledge(3, true, ViewVersion{}));
    BOOST_REQUIRE(list.has_value());
    const auto& entries = list->view->entries;
    return std::ranges::find(entries, uuid(5), &MemberEntry::id)->is_electable;
  };
  BOOST_TEST(!says_it_may_lead());
  node.disk_has_it();
  const ViewVersion before = node.node().members().version();
  node.lead_for(seconds(2),
                {1, 2});  // not at once, for its disk may break and work again and again
  BOOST_TEST((node.node().members().version() > before));
  BOOST_TEST(says_it_may_lead());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
