// What belongs to one election, where real nodes do not show it easily.
#include "metrics/election_meter.hh"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "scrape.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;
using metrics::ElectionMeter;
using metrics::Result;
using metrics::Trigger;

struct ElectionMeterFixture {
  void follow(Instant now = {}) { meter.on_leader_change(now, true, false, Why::kAnnounced); }
  void lose(Instant now = {}) { meter.on_leader_change(now, false, false, Why::kLeaderLost); }
  void enter(uint32_t state, Instant now = {}) {
    BOOST_TEST(!meter.on_state(now, state).has_value());
  }
  metrics::ElectionSummary end(Instant now = {}) {
    return meter.on_state(now, ELECTION_STATE_IDLE).value();
  }

  ElectionMeter meter;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(election_meter, ElectionMeterFixture)

BOOST_AUTO_TEST_CASE(idle_after_idle_is_no_election) { enter(ELECTION_STATE_IDLE); }

BOOST_AUTO_TEST_CASE(an_election_that_changes_nothing_keeps_the_leader) {
  follow();
  enter(ELECTION_STATE_COLLECTING);
  const auto election = end(at(1s));
  BOOST_TEST((election.result == Result::kKept));
  BOOST_TEST((election.trigger == Trigger::kOutranks));
  BOOST_TEST(!election.duration.has_value());
}

BOOST_AUTO_TEST_CASE(an_election_without_a_leader_is_abandoned_and_the_next_one_a_retry) {
  enter(ELECTION_STATE_COLLECTING);
  BOOST_TEST((end().result == Result::kAbandoned));
  enter(ELECTION_STATE_COLLECTING);
  BOOST_TEST((end().trigger == Trigger::kRetry));
}

BOOST_AUTO_TEST_CASE(a_leader_whose_application_has_ended_elects_for_that_reason) {
  for (const auto& [why, trigger] :
       {std::pair(Why::kApplicationLost, Trigger::kApplicationLost),
        std::pair(Why::kApplicationUnhealthy, Trigger::kApplicationUnhealthy)}) {
    meter.on_leader_change(at(1s), false, false, why);
    enter(ELECTION_STATE_COLLECTING);
    BOOST_TEST((end().trigger == trigger));
  }
}

// The leader that is asked for its place hands over: by then the election is over for the plugin.
BOOST_AUTO_TEST_CASE(an_election_whose_winner_is_given_the_place_is_won_when_it_leads) {
  follow();
  enter(ELECTION_STATE_CLAIMING, at(1s));
  meter.on_received(FrameType::kHandover);
  meter.on_leader_change(at(2s), false, false, Why::kLeaderResigned);
  BOOST_TEST(!meter.on_state(at(2s), ELECTION_STATE_IDLE).has_value());
  BOOST_TEST(!meter.take_granted().has_value());
  meter.on_leader_change(at(3s), true, true, Why::kClaimed);
  meter.on_sent(FrameType::kCoordinator);
  const auto election = meter.take_granted().value();
  BOOST_TEST((election.trigger == Trigger::kOutranks));
  BOOST_TEST((election.result == Result::kWon));
  BOOST_TEST((election.duration == 2s));
  BOOST_TEST(election.messages.coordinator == 1u);
  BOOST_TEST(!meter.take_granted().has_value());
}

BOOST_AUTO_TEST_CASE(a_place_that_was_given_in_vain_is_an_abandoned_election) {
  follow();
  enter(ELECTION_STATE_CLAIMING);
  meter.on_received(FrameType::kHandover);
  meter.on_leader_change({}, false, false, Why::kLeaderResigned);
  BOOST_TEST(!meter.on_state({}, ELECTION_STATE_IDLE).has_value());
  const auto election = meter.on_state({}, ELECTION_STATE_COLLECTING).value();
  BOOST_TEST((election.trigger == Trigger::kOutranks));
  BOOST_TEST((election.result == Result::kAbandoned));
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_lost_before_the_end_does_not_count) {
  enter(ELECTION_STATE_WAITING);
  follow(at(1s));
  lose(at(2s));
  const auto election = end(at(3s));
  BOOST_TEST((election.result == Result::kAbandoned));
  BOOST_TEST(!election.duration.has_value());
}

BOOST_AUTO_TEST_CASE(asking_again_is_the_same_election) {
  lose();
  enter(ELECTION_STATE_COLLECTING, at(1s));
  meter.on_sent(FrameType::kElection);
  enter(ELECTION_STATE_WAITING, at(2s));
  enter(ELECTION_STATE_COLLECTING, at(3s));
  meter.on_sent(FrameType::kElection);
  follow(at(4s));
  const auto election = end(at(5s));
  BOOST_TEST((election.trigger == Trigger::kLeaderLost));
  BOOST_TEST((election.result == Result::kFollowed));
  BOOST_TEST(election.messages.election == 2u);
  BOOST_TEST(election.messages.total() == 2u);
  BOOST_TEST((election.duration == 3s));
}

BOOST_AUTO_TEST_CASE(the_question_and_the_answer_before_it_belong_to_it) {
  meter.on_received(FrameType::kElection);
  meter.on_sent(FrameType::kAnswer);
  enter(ELECTION_STATE_HALTED);
  meter.on_received(FrameType::kCoordinator);
  follow();
  const auto election = end();
  BOOST_TEST((election.trigger == Trigger::kAsked));
  BOOST_TEST(election.messages.election == 1u);
  BOOST_TEST(election.messages.answer == 1u);
  BOOST_TEST(election.messages.coordinator == 1u);
  BOOST_TEST(election.messages.total() == 3u);
}

BOOST_AUTO_TEST_CASE(what_came_before_something_else_does_not_belong_to_it) {
  meter.on_received(FrameType::kElection);
  meter.on_sent(FrameType::kAnswer);
  meter.on_received(FrameType::kHeartbeat);
  enter(ELECTION_STATE_COLLECTING);
  const auto election = end();
  BOOST_TEST((election.trigger == Trigger::kStarted));
  BOOST_TEST(election.messages.total() == 0u);
}

BOOST_AUTO_TEST_CASE(heartbeats_are_not_counted) {
  enter(ELECTION_STATE_COLLECTING);
  meter.on_received(FrameType::kHeartbeat);
  meter.on_sent(FrameType::kHeartbeatAck);
  BOOST_TEST(end().messages.total() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
