// What the winner of an election knows of it: who is gone, who began, who led before.
#include "daemon/election_witness.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::tests {

using namespace daemon;

namespace {

Uuid id_of(uint8_t number) {
  Uuid id{};
  id.data[15] = number;
  return id;
}

// Ids rise with the rank; this node is number 3 of five.
constexpr uint8_t kSelf = 3;

struct ElectionWitnessFixture {
  Members members{{.id = id_of(kSelf), .name = "n3", .priority = 100, .is_electable = true}};
  ElectionWitness witness{members};

  ElectionWitnessFixture() {
    for (const uint8_t number : std::initializer_list<uint8_t>{1, 2, 4, 5}) {
      members.put({.id = id_of(number), .priority = 100, .is_electable = true}, Instant{});
    }
  }

  void enters(uint32_t state) { witness.on_effect(Progress{.state = state}); }
  void is_asked_by(uint8_t number, FrameType type = FrameType::kElection) {
    witness.on_received(id_of(number), type);
  }
  void tells(std::initializer_list<uint8_t> numbers) {
    for (const uint8_t number : numbers) {
      witness.on_effect(Send{.to = id_of(number), .frame = {{}, Coordinator{}}});
    }
  }
  void follows(uint8_t number) {
    witness.on_effect(Publish{.leader = id_of(number), .why = Why::kAnnounced});
  }
  void wins(std::initializer_list<uint8_t> told) {
    enters(ELECTION_STATE_CLAIMING);
    witness.on_effect(Publish{.is_leader = true, .leader = id_of(kSelf), .why = Why::kClaimed});
    tells(told);
  }
  // Numbers, as the initiator's and the leader's index would be.
  std::vector<uint32_t> gone(bool was_asked = false) {
    std::vector<uint32_t> numbers;
    const ElectionCase election = witness.seen(was_asked, false);
    for (uint32_t i = 0; i < election.members.size(); ++i) {
      if ((election.members[i].marks & ELECTION_MEMBER_SUSPECT) != 0) numbers.push_back(i + 1);
    }
    return numbers;
  }
  uint32_t initiator(bool was_asked) { return witness.seen(was_asked, false).initiator + 1; }
  uint32_t lost_leader() {
    const uint32_t lost = witness.seen(false, false).lost;
    return lost == ELECTION_NOBODY ? 0 : lost + 1;
  }
};

using Numbers = std::vector<uint32_t>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(election_witness, ElectionWitnessFixture)

BOOST_AUTO_TEST_CASE(who_was_not_told_of_the_victory_is_gone) {
  wins({1, 2, 4});
  BOOST_TEST(gone() == Numbers{5}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_told_outside_of_an_election_does_not_count) {
  tells({5});
  wins({1, 4});
  enters(ELECTION_STATE_IDLE);
  tells({2});
  BOOST_TEST(gone() == (Numbers{2, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_election_is_told_anew) {
  wins({1, 2, 4, 5});
  enters(ELECTION_STATE_IDLE);
  wins({1, 2});
  BOOST_TEST(gone() == (Numbers{4, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_node_that_nobody_asked_began_itself) {
  wins({1, 2});
  BOOST_TEST(initiator(false) == kSelf);
}

BOOST_AUTO_TEST_CASE(the_one_that_asked_first_began) {
  is_asked_by(2);
  wins({1, 2});
  BOOST_TEST(initiator(true) == 2u);
}

BOOST_AUTO_TEST_CASE(a_hand_over_comes_from_the_one_that_began) {
  is_asked_by(1, FrameType::kHandover);
  wins({1, 2});
  BOOST_TEST(initiator(true) == 1u);
}

BOOST_AUTO_TEST_CASE(an_election_of_which_this_node_wanted_no_part_was_another) {
  is_asked_by(1);
  wins({1, 2});
  BOOST_TEST(initiator(false) == kSelf);
}

// In the classic variant those that were asked ask as well.
BOOST_AUTO_TEST_CASE(of_several_that_asked_the_lowest_began) {
  is_asked_by(2);
  enters(ELECTION_STATE_COLLECTING);
  is_asked_by(1);
  is_asked_by(2);
  wins({1, 2});
  BOOST_TEST(initiator(true) == 1u);
}

BOOST_AUTO_TEST_CASE(nobody_above_this_node_can_have_begun) {
  enters(ELECTION_STATE_COLLECTING);
  is_asked_by(4);
  wins({1, 2, 4});
  BOOST_TEST(initiator(false) == kSelf);
}

BOOST_AUTO_TEST_CASE(who_asked_and_is_gone_since_did_not_begin_what_is_held_again) {
  is_asked_by(1);
  wins({2});
  BOOST_TEST(initiator(true) == kSelf);
}

BOOST_AUTO_TEST_CASE(other_frames_ask_for_nothing) {
  enters(ELECTION_STATE_COLLECTING);
  is_asked_by(1, FrameType::kAnswer);
  is_asked_by(2, FrameType::kHeartbeatAck);
  wins({1, 2});
  BOOST_TEST(initiator(true) == kSelf);
}

BOOST_AUTO_TEST_CASE(the_leader_that_was_there_before_is_lost_when_it_is_gone) {
  follows(5);
  wins({1, 2, 4});
  BOOST_TEST(lost_leader() == 5u);
}

BOOST_AUTO_TEST_CASE(the_leader_that_was_there_before_is_not_lost_when_it_is_told) {
  follows(2);
  wins({1, 2, 4});
  BOOST_TEST(lost_leader() == 0u);
}

BOOST_AUTO_TEST_CASE(without_a_leader_before_none_is_lost) {
  wins({1, 2});
  BOOST_TEST(lost_leader() == 0u);
}

BOOST_AUTO_TEST_CASE(this_node_is_never_lost) {
  follows(kSelf);
  wins({1, 2});
  BOOST_TEST(lost_leader() == 0u);
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_is_marked_and_the_settings_are_passed_on) {
  members.set_electable(*members.find(id_of(4)), false);
  wins({1, 2, 4, 5});
  const ElectionCase election = witness.seen(false, true);
  BOOST_TEST(election.asks_suspected);
  BOOST_TEST(election.members[3].marks == 0u);
  BOOST_TEST(election.members[4].marks == uint32_t{ELECTION_MEMBER_ELECTABLE});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
