// Whoever outranks a leader that works asks it for its place: the asker, 5, which follows 1; and
// the leader that is asked, 3.
#include <boost/test/unit_test.hpp>

#include "asked_leader.hh"
#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

// 5 has won its election against 1, and asks.
struct Asker : NodeHarness {
  explicit Asker(Options options = {}) : NodeHarness({.self = 5, .options = std::move(options)}) {
    follow(1, 1);
    question = *find_sent<Canvass>(run_for(Duration::zero()));
  }

  Effects receive_reply(CanvassReply reply) {
    reply.number = question.number;
    return receive(1, 1, reply);
  }

  Canvass question;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_takeover)

// --- the one that asks ---

BOOST_AUTO_TEST_CASE(a_higher_rank_asks_the_leader_and_waits) {
  Asker node;
  BOOST_TEST(node.question.is_take_over);
  BOOST_TEST(!node.question.is_planned);
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(it_leads_when_the_leader_hands_over) {
  Asker node;
  const Effects effects = node.receive(1, 1, PlannedHandover{}, 1);
  BOOST_TEST(published(effects) == "no leader, leads in 2");
  BOOST_TEST(!node.node().is_asking());
}

BOOST_AUTO_TEST_CASE(without_an_answer_it_claims_after_the_time_of_a_handover) {
  Asker node;
  node.run_for(milliseconds(299));
  BOOST_TEST(node.role() == "asks 1");
  const Effects effects = node.run_for(milliseconds(1));
  BOOST_TEST(reported<TimedOut>(effects) == "handover");
  BOOST_TEST(node.role() == "leads in 2");
}

BOOST_AUTO_TEST_CASE(it_waits_for_the_leaders_application) {
  Asker node({.suspect_after_min = seconds(20), .suspect_after_max = seconds(20)});
  node.receive_reply({.is_yes = true, .wait = seconds(4)});
  node.run_for(milliseconds(4299));
  BOOST_TEST(node.role() == "asks 1");
  node.run_for(milliseconds(1));
  BOOST_TEST(node.role() == "leads in 2");
}

BOOST_AUTO_TEST_CASE(a_no_is_a_no) {
  Asker node({.suspect_after_min = seconds(20), .suspect_after_max = seconds(20)});
  node.receive_reply({.leader = LeaderHint{.id = uuid(1), .epoch = 1}});
  BOOST_TEST(!node.node().is_asking());
  node.run_for(seconds(10));
  BOOST_TEST(node.role() == "follows 1 in 1");
}

BOOST_AUTO_TEST_CASE(whoever_is_refused_for_now_asks_again_when_the_leader_says) {
  Asker node({.suspect_after_min = seconds(20), .suspect_after_max = seconds(20)});
  node.receive_reply({.is_yes = true, .wait = seconds(5)});
  node.receive_reply({.leader = LeaderHint{uuid(1), 1}, .wait = seconds(4)});
  BOOST_TEST(node.role() == "follows 1 in 1");
  node.disconnect(2, LinkEvidence::kRefused);  // what else happens is no reason to ask
  BOOST_TEST((node.wait_of(Timer::kPreempt) == seconds(4)));
  node.run_for(seconds(4));
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(another_leader_has_refused_nothing) {
  Asker node;
  node.receive_reply({.leader = LeaderHint{uuid(1), 1}, .wait = seconds(4)});
  node.receive(2, 2, Coordinator{});
  BOOST_TEST((node.wait_of(Timer::kPreempt) <= milliseconds(100)));
}

BOOST_AUTO_TEST_CASE(nobody_else_answers_for_the_leader) {
  Asker node;
  node.receive(2, 1, CanvassReply{.number = node.question.number});
  BOOST_TEST(node.node().is_asking());
}

BOOST_AUTO_TEST_CASE(when_the_leader_dies_there_is_nobody_to_wait_for) {
  Asker node;
  node.disconnect(1, LinkEvidence::kRefused);
  node.run_for(Duration::zero());
  BOOST_TEST(node.role() == "leads in 2");
}

BOOST_AUTO_TEST_CASE(whose_application_ends_meanwhile_wants_nothing_any_more) {
  Asker node;
  node.step(Application{.ability = Ability::kAbsent});
  BOOST_TEST(!node.node().is_asking());
}

// A drop of the connection may have taken the answer with it.
BOOST_AUTO_TEST_CASE(it_asks_again_over_a_new_connection) {
  Asker node;
  node.disconnect(1, LinkEvidence::kClosed);
  const Effects effects = node.connect(1, 1, LeaderHint{uuid(1), 1});
  BOOST_TEST_REQUIRE(find_sent<Canvass>(effects).has_value());
  BOOST_TEST(find_sent<Canvass>(effects)->is_take_over);
  BOOST_TEST(node.role() == "asks 1");
}

BOOST_AUTO_TEST_CASE(members_that_change_meanwhile_do_not_make_it_ask_again) {
  Asker node;
  node.disconnect(2, LinkEvidence::kRefused);
  BOOST_TEST(sent(node.run_for(milliseconds(100))) == "");
}

BOOST_AUTO_TEST_CASE(an_operators_wish_is_said_though_it_has_asked_already) {
  Asker node({.answer_timeout = milliseconds(50)});
  node.receive(1, 1, Heartbeat{.sequence = 9});
  const Effects effects = node.step(Elect{});
  BOOST_TEST(node.node().is_asking());
  const auto again = find_sent<Canvass>(effects);
  if (again) BOOST_TEST(again->is_planned);
}

BOOST_AUTO_TEST_CASE(whoever_is_asked_by_a_leader_knows_that_it_leads) {
  NodeHarness node({.self = 5});
  node.follow(1, 1);
  const LeaderHint leader{.id = uuid(1), .epoch = 2};
  node.receive(1, 2, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .leader = leader});
  BOOST_TEST(node.role() == "follows 1 in 2");
}

BOOST_AUTO_TEST_CASE(the_papers_process_asks_nobody) {
  Options options = textbook_options();
  NodeHarness node({.self = 5, .options = options});
  node.follow(1, 1);
  const Effects effects = node.run_for(milliseconds(300));
  BOOST_TEST(!find_sent<Canvass>(effects).has_value());
  BOOST_TEST(node.role() == "leads in 2");
}

// --- the leader that is asked ---

BOOST_AUTO_TEST_CASE(who_leads_says_so_in_an_election) {
  Asked node;
  node.connect(4, 1);
  const auto election = find_sent<ElectionFrame>(node.step(Elect{}));
  BOOST_REQUIRE(election.has_value());
  BOOST_REQUIRE(election->leader.has_value());
  BOOST_TEST((election->leader->id == uuid(3)));
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_names_nobody) {
  NodeHarness node({.self = 3});
  node.join();
  const auto election = find_sent<ElectionFrame>(node.step(Elect{}));
  BOOST_REQUIRE(election.has_value());
  BOOST_TEST(!election->leader.has_value());
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_outranked_hands_over_at_once) {
  Asked node;
  const Effects effects = node.receive_question(5);
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(sent(effects).ends_with("HANDOVER to 5"));
}

BOOST_AUTO_TEST_CASE(it_tells_a_lower_rank_who_leads) {
  Asked node;
  const auto reply = find_sent<CanvassReply>(node.receive_question(2));
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(!reply->is_yes);
  BOOST_TEST((reply->leader->id == uuid(3)));
  BOOST_TEST(node.role() == "leads in 1");
}

BOOST_AUTO_TEST_CASE(an_operators_wish_makes_it_hand_over_to_anybody) {
  Asked node;
  BOOST_TEST(sent(node.receive_question(2, true)) == "HANDOVER to 2");
}

// Its word of the score may still be on its way.
BOOST_AUTO_TEST_CASE(the_score_in_the_question_counts) {
  Asked node;
  BOOST_TEST(sent(node.receive_question(2, false, 9)) == "HANDOVER to 2");
}

BOOST_AUTO_TEST_CASE(its_application_finishes_first_and_the_asker_knows_how_long_that_may_take) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  const auto reply = find_sent<CanvassReply>(node.receive_question(5));
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST(reply->is_yes);
  BOOST_TEST((reply->wait == seconds(10)));
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST((node.node().drain()->reason == DrainReason::kTakeOver));
  BOOST_TEST(sent(node.step(Drained{1})) == "HANDOVER to 5");
}

BOOST_AUTO_TEST_CASE(of_two_that_ask_while_it_drains_the_higher_has_the_place) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(4);
  node.run_for(seconds(3));
  BOOST_TEST((reply_to(5, node.receive_question(5))->wait == seconds(7)));
  BOOST_TEST((node.node().successor() == uuid(5)));
  BOOST_TEST(!reply_to(4, node.receive_question(4))->is_yes);
  BOOST_TEST((node.node().successor() == uuid(5)));
}

BOOST_AUTO_TEST_CASE(the_one_that_waited_for_less_is_told) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(4);
  const Effects effects = node.receive_question(5);
  BOOST_TEST(!reply_to(4, effects)->is_yes);
  BOOST_TEST(reply_to(5, effects)->is_yes);
}

BOOST_AUTO_TEST_CASE(an_asker_that_has_gone_keeps_nobody_from_work) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(4);
  const Effects effects = node.disconnect(4, LinkEvidence::kRefused);
  BOOST_TEST(!last_publish(effects)->is_draining);
  BOOST_TEST(node.role() == "leads in 1");
}

// As much less as makes this node the one that would ask.
BOOST_AUTO_TEST_CASE(an_asker_that_is_worth_less_than_the_leader_by_now_is_told_that_it_stays) {
  Options options = with_drain();
  options.score_margin = 5;
  Asked node(options);
  node.step(Application{.score = 10, .is_attached = true});
  node.receive_question(4, false, 30);
  const auto say = [&node](uint64_t revision, int64_t score) {
    return node.receive(4, 1,
                        Wish{.variant = member_entry(4).variant,
                             .boot = member_entry(4).boot,
                             .revision = revision,
                             .is_electable = true,
                             .score = score});
  };
  BOOST_TEST(sent(say(1, 7)) == "");
  const Effects effects = say(2, 2);
  BOOST_TEST_REQUIRE(find_sent<CanvassReply>(effects).has_value());
  BOOST_TEST(!find_sent<CanvassReply>(effects)->is_yes);
  BOOST_TEST(find_sent<CanvassReply>(effects)->number == 7u);
  BOOST_TEST(node.node().drain() == nullptr);
}

BOOST_AUTO_TEST_CASE(what_an_operator_wants_depends_on_no_score) {
  Asked node(with_drain());
  node.step(Application{.score = 10, .is_attached = true});
  node.receive_question(2, /*is_planned=*/true);
  node.step(Application{.score = 90, .is_attached = true});
  BOOST_TEST((node.node().successor() == uuid(2)));
  BOOST_TEST(node.node().drain() != nullptr);
}

BOOST_AUTO_TEST_CASE(whom_an_operator_has_named_is_not_pushed_aside) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.step(Transfer{uuid(1)});
  BOOST_TEST(!find_sent<CanvassReply>(node.receive_question(5))->is_yes);
  BOOST_TEST(sent(node.step(Drained{1})) == "HANDOVER to 1");
}

BOOST_AUTO_TEST_CASE(those_in_an_election_that_was_called_hear_that_the_leader_is_there) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  const Effects effects = node.receive_question(5, true);
  BOOST_TEST(find_sent<Coordinator>(effects).has_value());
  BOOST_TEST((header_of_sent<Coordinator>(effects).epoch == 1u));
}

BOOST_AUTO_TEST_CASE(who_leads_no_longer_says_who_does) {
  NodeHarness node({.self = 3});
  node.follow(4, 2);
  const auto reply =
      find_sent<CanvassReply>(node.receive(5, 2, Canvass{.number = 1, .is_take_over = true}));
  BOOST_TEST((reply->leader->id == uuid(4)));
}

// There a candidate asks all voters first; then the leader.
BOOST_AUTO_TEST_CASE(with_voters_the_leader_is_asked_when_a_majority_would_grant) {
  GuardHarness node({.self = 5});
  node.follow(1, 1);
  BOOST_TEST(find_sent<Canvass>(node.run_for(Duration::zero())).has_value());
  BOOST_TEST(!node.node().is_asking());
  node.receive_opinion(2, true);
  const Effects effects = node.receive_opinion(3, true);
  BOOST_TEST(sent(effects) == "CANVASS to 1");
  BOOST_TEST(find_sent<Canvass>(effects)->is_take_over);
  BOOST_TEST(node.node().is_asking());
  BOOST_TEST(everything(node.receive(1, 1, PlannedHandover{}, 0)) == "no leader, store 2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
