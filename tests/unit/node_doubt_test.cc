// A voter whose memory is not what its peers know of it: its state was put back to an older one, or
// it was away for so long that their epochs are beyond what it can believe.
#include <boost/test/unit_test.hpp>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

struct Remembered : GuardHarness {
  explicit Remembered(NodeSetup setup = {.record = {.max_epoch = 6}}, uint32_t voters = 5)
      : GuardHarness(std::move(setup), voters) {
    join();
  }

  // A peer whose memory of voter `of` reaches up to `epoch`.
  Effects meet(uint32_t of, uint64_t epoch, uint32_t peer = 4) {
    Hello hello = NodeHarness::hello_of(peer);
    hello.voters = node().majority()->hash;
    hello.remembered = {{.voter = uuid(2), .epoch = 99}, {.voter = uuid(of), .epoch = epoch}};
    return connect(hello);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_doubt)

// --- a state that is not lost, but put back ---

BOOST_AUTO_TEST_CASE(whoever_is_remembered_beyond_its_disk_has_forgotten) {
  Remembered node;
  node.meet(3, 6);
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
  const auto stored = find_stored(node.meet(3, 7));
  BOOST_TEST((node.node().vote(node.now()) == Vote::kForgotten));
  BOOST_TEST(stored.has_value());  // as that of a voter that has forgotten
  BOOST_TEST(!is_granted(node.receive_claim(5, 8)));
}

BOOST_AUTO_TEST_CASE(it_waits_and_asks_and_has_a_vote_again_beyond_what_is_remembered) {
  Remembered node;
  node.meet(3, 7);
  node.run_for(seconds(10));
  for (const uint32_t voter : {1u, 2u, 5u}) {
    node.receive(voter, 6, CanvassReply{.number = node.node().majority()->number}, 6);
  }
  node.disk_has_it();
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
  BOOST_TEST(node.max_epoch() == 7u);
  node.meet(3, 7);  // nothing new
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(a_leader_whose_state_was_put_back_gives_up) {
  GuardHarness node({.self = 5});
  node.lead();
  Hello hello = NodeHarness::hello_of(4);
  hello.voters = node.node().majority()->hash;
  hello.remembered = {{.voter = uuid(5), .epoch = 7}};
  const Effects effects = node.connect(hello);
  BOOST_TEST(published(effects) == "no leader");
  BOOST_TEST(find_sent<Resign>(effects).has_value());
  BOOST_TEST((node.node().vote(node.now()) == Vote::kForgotten));
}

BOOST_AUTO_TEST_CASE(a_claim_of_a_voter_whose_state_was_put_back_is_given_up) {
  GuardHarness node({.self = 5});
  node.claim();
  Hello hello = NodeHarness::hello_of(4);
  hello.voters = node.node().majority()->hash;
  hello.remembered = {{.voter = uuid(5), .epoch = 7}};
  node.connect(hello);
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(!node.node().is_candidate());
}

// A stranger that has the name of no voter, or other voters, or an epoch that cannot be, is not
// believed.
BOOST_AUTO_TEST_CASE(only_voters_of_this_group_are_believed) {
  Remembered stranger({.record = {.max_epoch = 6}}, 3);
  stranger.meet(3, 7, 4);  // 4 follows
  BOOST_TEST((stranger.node().vote(stranger.now()) == Vote::kInForce));

  Remembered others;
  Hello hello = NodeHarness::hello_of(4);
  hello.voters = 1;
  hello.remembered = {{.voter = uuid(3), .epoch = 7}};
  others.connect(hello);
  BOOST_TEST((others.node().vote(others.now()) == Vote::kInForce));

  Remembered absurd;
  absurd.meet(3, uint64_t{1} << 62);
  BOOST_TEST((absurd.node().vote(absurd.now()) == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(what_others_are_remembered_for_is_their_affair) {
  Remembered node;
  node.meet(1, 99);
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(who_has_no_vote_can_have_forgotten_none) {
  Remembered learner({.self = 5}, 3);
  learner.meet(5, 7, 2);
  BOOST_TEST((learner.node().vote(learner.now()) == Vote::kNone));
}

// --- of another time than the group ---

BOOST_AUTO_TEST_CASE(a_voter_that_was_away_for_too_long_is_shut_out_until_it_has_come_near) {
  GuardHarness node({.record = {.max_epoch = 6}}, 3);
  node.step(Start{});
  const uint64_t far = 2 * kLatestEpochSeed + (uint64_t{3} << 32);
  const auto meet = [&] {
    Hello hello = NodeHarness::hello_of(1, far);
    hello.voters = node.node().majority()->hash;
    return node.connect(hello);
  };
  meet();
  BOOST_TEST((node.node().vote(node.now()) == Vote::kShutOut));
  BOOST_TEST(node.node().waits_for_vote(node.now()));
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(node.node().known_epoch() == 6u);
    node.run_for(seconds(1));
    meet();
  }
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
  BOOST_TEST(node.node().known_epoch() == far);
}

// The others, when they are back and lead, would approach it by a step a minute only.
BOOST_AUTO_TEST_CASE(nobody_but_voters_leads_a_voter_to_a_far_epoch) {
  GuardHarness node({.record = {.max_epoch = 6}}, 3);
  node.step(Start{});
  for (int i = 0; i < 10; ++i) {
    Hello hello = NodeHarness::hello_of(7, 2 * kLatestEpochSeed + 1);
    hello.voters = node.node().majority()->hash;
    BOOST_TEST(everything(node.connect(hello)) == "refuse 7");
    node.run_for(seconds(1));
  }
  BOOST_TEST(node.node().known_epoch() == 6u);
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(a_voter_is_shut_out_no_longer_when_nobody_is_far_ahead) {
  GuardHarness node({.record = {.max_epoch = 6}}, 3);
  node.step(Start{});
  Hello hello = NodeHarness::hello_of(1, UINT64_MAX);
  hello.voters = node.node().majority()->hash;
  node.connect(hello);
  BOOST_TEST((node.node().vote(node.now()) == Vote::kShutOut));
  node.run_for(seconds(31));
  BOOST_TEST((node.node().vote(node.now()) == Vote::kInForce));
}

BOOST_AUTO_TEST_CASE(a_voter_tells_peers_what_it_remembers_of_voters) {
  GuardHarness node({.start = {}}, 3);
  node.join();
  BOOST_TEST(node.node().hello().remembered.empty());
  node.receive(2, 9, Resign{}, 9);
  node.receive(5, 8, Resign{}, 8);  // no voter
  const std::vector<RememberedRelease> expected{{.voter = uuid(2), .epoch = 9}};
  BOOST_TEST((node.node().hello().remembered == expected));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
