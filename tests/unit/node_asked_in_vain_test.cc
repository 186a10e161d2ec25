// A leader that is asked for its place lets its application finish.  If whoever asked is gone by
// then it has stopped for nothing: others that have asked as well have the place, or it stays for a
// while.
#include <boost/test/unit_test.hpp>

#include "asked_leader.hh"
#include "node_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_asked_in_vain)

// Each time its application has stopped for nothing; and the one that asks remembers nothing if it
// crashes.
BOOST_AUTO_TEST_CASE(a_leader_that_is_asked_in_vain_stays_ever_longer_whoever_asks) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  const auto ask_in_vain = [&node](uint32_t asker, uint32_t next) {
    BOOST_TEST(reply_to(asker, node.receive_question(asker))->is_yes);
    BOOST_TEST(!last_publish(node.disconnect(asker, LinkEvidence::kRefused))->is_draining);
    node.connect(next, 1);
    const auto reply = *reply_to(next, node.receive_question(next));
    BOOST_TEST(!reply.is_yes);
    node.run_for(reply.wait);
    return reply.wait;
  };
  node.disconnect(4, LinkEvidence::kRefused);
  BOOST_TEST((ask_in_vain(5, 4) == Options{}.heartbeat_interval));
  BOOST_TEST((ask_in_vain(4, 5) == seconds(1)));
  BOOST_TEST((ask_in_vain(5, 5) == seconds(2)));
  BOOST_TEST(reply_to(5, node.receive_question(5))->is_yes);
}

// Two that crash in turn would have it asked half of the time.
BOOST_AUTO_TEST_CASE(a_leader_that_is_asked_in_vain_works_on_for_as_long_as_it_has_stopped) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(5);
  node.run_for(seconds(8));
  node.disconnect(5, LinkEvidence::kRefused);
  node.connect(5, 1);
  BOOST_TEST((reply_to(5, node.receive_question(5))->wait == seconds(8)));
}

// Whoever has crashed may have had the place for a moment.
BOOST_AUTO_TEST_CASE(a_leader_that_was_asked_in_vain_knows_it_in_its_next_reign) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.disconnect(4, LinkEvidence::kRefused);
  node.receive_question(5);
  node.run_for(seconds(8));
  node.disconnect(5, LinkEvidence::kRefused);
  node.connect(5, 1);
  node.receive(5, 2, Coordinator{});
  node.disconnect(5, LinkEvidence::kRefused);
  node.run_for(Duration::zero());
  BOOST_TEST_REQUIRE(node.role() == "leads in 3");
  node.connect(5, 3);
  BOOST_TEST(
      !find_sent<CanvassReply>(node.receive(5, 3, Canvass{.number = 8, .is_take_over = true}))
           ->is_yes);
}

BOOST_AUTO_TEST_CASE(an_operators_hand_over_forgives_those_that_had_asked_in_vain) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(5);
  node.run_for(seconds(8));
  node.disconnect(5, LinkEvidence::kRefused);
  node.disconnect(4, LinkEvidence::kRefused);
  node.connect(4, 1);
  node.step(Transfer{uuid(4)});
  node.step(Drained{2});
  node.receive(4, 2, Coordinator{});
  node.disconnect(4, LinkEvidence::kRefused);
  node.run_for(Duration::zero());
  BOOST_TEST_REQUIRE(node.role() == "leads in 3");
  node.connect(5, 3);
  BOOST_TEST(find_sent<CanvassReply>(node.receive(5, 3, Canvass{.number = 8, .is_take_over = true}))
                 ->is_yes);
}

// It was refused for the sake of one that has crashed.
BOOST_AUTO_TEST_CASE(when_the_asker_has_gone_the_next_one_that_outranks_the_leader_has_the_place) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(5);
  node.receive_question(4);
  node.disconnect(5, LinkEvidence::kRefused);
  BOOST_TEST(node.node().drain() != nullptr);
  BOOST_TEST((node.node().successor() == uuid(4)));
  node.connect(5, 1);
  BOOST_TEST(!reply_to(5, node.receive_question(5))->is_yes);
  BOOST_TEST(sent(node.step(Drained{1})) == "HANDOVER to 4");
}

// It may have a delay, or a policy, of its own; and another life of it has not asked.
BOOST_AUTO_TEST_CASE(nobody_that_has_not_asked_is_given_the_place_of_a_leader_that_works) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(5);
  BOOST_TEST(!last_publish(node.disconnect(5, LinkEvidence::kRefused))->is_draining);
  BOOST_TEST(node.node().drain() == nullptr);
}

// It may be back, or not; in the meantime the place would go to a lower rank than the leader's.
BOOST_AUTO_TEST_CASE(
    an_asker_that_is_away_when_the_application_has_finished_does_not_get_the_place) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.disconnect(4, LinkEvidence::kRefused);
  node.receive_question(5);
  node.disconnect(5, LinkEvidence::kClosed);
  BOOST_TEST(node.node().drain() != nullptr);
  const Effects effects = node.step(Drained{1});
  BOOST_TEST(sent(effects).find("HANDOVER") == std::string::npos);
  BOOST_TEST(node.role() == "leads in 1");
  BOOST_TEST(node.node().drain() == nullptr);
}

BOOST_AUTO_TEST_CASE(what_an_operator_wants_waits_for_nothing) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.disconnect(4, LinkEvidence::kRefused);
  node.receive_question(5);
  node.disconnect(5, LinkEvidence::kRefused);
  node.connect(4, 1);
  BOOST_TEST(find_sent<CanvassReply>(node.receive_question(4, /*is_planned=*/true))->is_yes);
}

BOOST_AUTO_TEST_CASE(whoever_was_to_have_the_place_hears_until_when_it_is_refused) {
  Asked node(with_drain());
  node.step(Application{.is_attached = true});
  node.receive_question(4, false, 9);
  const Effects effects = node.step(Application{.score = 20, .is_attached = true});
  const auto reply = find_sent<CanvassReply>(effects);
  BOOST_TEST_REQUIRE(reply.has_value());
  BOOST_TEST(!reply->is_yes);
  BOOST_TEST((reply->wait == Options{}.heartbeat_interval));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
