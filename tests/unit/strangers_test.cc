// The checks of the running sidecar stop it, so nothing that peers say may break them: here they
// say anything at all, in any order, and the disk and the clock do what they like.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>

#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

constexpr int kLives = 300;
constexpr int kSteps = 400;

class Strangers {
 public:
  Strangers(NodeHarness& node, uint64_t seed) : node_(node), random_(seed) {}

  void act() {
    switch (below(12)) {
      case 0:
        return note(node_.connect(hello()));
      case 1:
        return note(node_.disconnect(peer(), static_cast<LinkEvidence>(below(3))));
      case 2:
        return note(node_.step(Joined{}));
      case 3:
        return note(command());
      case 4:
        node_.pass(milliseconds(below(400)));
        return note(node_.tick());
      case 5:
        if (stored_) note(node_.step(Persisted{*stored_, below(20) != 0}));
        return;
      default:
        return note(frame());
    }
  }

 private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  uint32_t peer() { return static_cast<uint32_t>(1 + below(6)); }
  uint64_t epoch() {
    return node_.max_epoch() + below(4) - std::min<uint64_t>(node_.max_epoch(), below(3));
  }
  std::optional<LeaderHint> hint() {
    if (below(3) == 0) return std::nullopt;
    return LeaderHint{uuid(peer()), epoch(), below(4) == 0, score()};
  }
  int64_t score() { return static_cast<int64_t>(below(3)) - 1; }
  Terms terms() {
    const Majority* majority = node_.node().majority();
    const uint64_t voters = majority != nullptr && below(8) != 0 ? majority->hash : below(2);
    return {voters, below(4) == 0 ? milliseconds(below(3)) : milliseconds(100 * below(150))};
  }

  // The disk has what was to be stored last, in time or never.
  void note(const Effects& effects) {
    for (const Effect& effect : effects) {
      if (const auto* store = std::get_if<Persist>(&effect)) stored_ = store->record;
    }
  }

  Hello hello() {
    Hello made{.header = {.epoch = epoch(), .released = epoch()},
               .self = member(),
               .leader = hint(),
               .view = {}};
    made.voters = terms().voters;
    if (below(20) == 0) made.remembered = {{.voter = uuid(peer()), .epoch = epoch()}};
    if (below(40) == 0) made.header.epoch = random_();
    return made;
  }

  MemberEntry member() {
    MemberEntry made = member_entry(peer(), static_cast<uint32_t>(below(3) * 100), below(3));
    made.is_electable = below(2) == 0;
    made.ability = static_cast<Ability>(below(3));
    made.score = score();
    made.revision = below(4);
    return made;
  }

  std::shared_ptr<const MemberView> view() {
    auto made = std::make_shared<MemberView>();
    made->version = {epoch(), below(20)};
    for (uint64_t left = below(6); left > 0; --left) {
      made->entries.push_back(member());
      made->entries.back().liveness = static_cast<Liveness>(below(4));
    }
    return made;
  }

  Effects command() {
    switch (below(6)) {
      case 0:
        return node_.step(Elect{});
      case 1:
        return node_.step(StepDown{milliseconds(below(2000))});
      case 2:
        return node_.step(Transfer{uuid(peer())});
      case 3:
        return node_.step(Forget{NodeHarness::hello_of(peer()).self.name});
      default:
        return node_.step(Tick{});
    }
  }

  template <typename Body>
  Effects say(Body body) {
    return node_.receive(peer(), epoch(), std::move(body), epoch());
  }

  Effects frame() {
    switch (below(16)) {
      case 0:
      case 1:
        return say(Coordinator{.is_appointed = below(4) == 0,
                               .is_planned = below(4) == 0,
                               .sequence = below(20),
                               .terms = terms(),
                               .score = score()});
      case 2:
      case 3:
        return say(Heartbeat{.sequence = below(20),
                             .is_effective = below(3) != 0,
                             .is_draining = below(4) == 0,
                             .terms = terms(),
                             .score = score()});
      case 4:
        return say(Grant{.epoch = epoch(),
                         .is_granted = below(3) != 0,
                         .sequence = below(20),
                         .waits = {{uuid(peer()), epoch(), milliseconds(below(3000))}},
                         .boot_wait = milliseconds(below(300))});
      case 5:
        return say(HeartbeatAck{
            .sequence = below(20), .promised_epoch = epoch(), .is_electable = below(2) == 0});
      case 6:
        return say(Canvass{.number = below(5),
                           .voters = terms().voters,
                           .is_take_over = below(2) == 0,
                           .score = score()});
      case 7:
        return say(CanvassReply{.number = number(),
                                .is_yes = below(4) != 0,
                                .is_lost = below(4) == 0,
                                .leader = hint(),
                                .wait = milliseconds(below(300))});
      case 8:
        return say(Refusal{epoch(), hint()});
      case 9:
        return say(Resign{});
      case 10:
        return say(PlannedHandover{});
      case 11:
        return say(Leave{below(3)});
      case 12:
        return say(MembersFrame{view()});
      case 13:
        return say(wish());
      default:
        return say(election());
    }
  }

  Wish wish() {
    return {.variant = below(2) == 0 ? "classic" : "modified",
            .boot = below(3),
            .revision = below(4),
            .is_electable = below(2) == 0,
            .ability = static_cast<Ability>(below(3)),
            .score = score()};
  }

  uint64_t number() {
    const Majority* majority = node_.node().majority();
    return majority != nullptr ? majority->number : 0;
  }

  ElectionFrame election() {
    ElectionFrame made{.kind = static_cast<uint32_t>(ELECTION_MESSAGE_ELECTION + below(3)),
                       .flags = static_cast<uint32_t>(below(8)),
                       .round = below(10)};
    made.leader = hint();
    return made;
  }

  NodeHarness& node_;
  std::mt19937_64 random_;
  std::optional<Record> stored_;
};

// The harness judges every step.
void live(NodeHarness& node, uint64_t seed) {
  node.join();
  Strangers strangers(node, seed);
  for (int i = 0; i < kSteps && node.broken().empty(); ++i) strangers.act();
  BOOST_TEST(node.broken() == "", "seed " << seed << ": " << node.broken() << "; it wanted "
                                          << node.self_check().wanted() << " after "
                                          << node.self_check().last_inputs());
}

const auto kVariants = boost::unit_test::data::make({"classic", "modified"});

}  // namespace

BOOST_AUTO_TEST_SUITE(strangers)

BOOST_DATA_TEST_CASE(nothing_that_is_said_makes_a_node_wrong, kVariants, variant) {
  for (uint64_t seed = 1; seed <= kLives; ++seed) {
    NodeHarness node({.self = static_cast<uint32_t>(1 + seed % 5),
                      .options = {.variant = variant, .seed = seed}});
    live(node, seed);
    if (!node.broken().empty()) return;
  }
}

BOOST_DATA_TEST_CASE(nothing_that_is_said_makes_a_guarded_node_wrong, kVariants, variant) {
  for (uint64_t seed = 1; seed <= kLives; ++seed) {
    GuardHarness node({.self = static_cast<uint32_t>(1 + seed % 5),
                       .options = {.variant = variant, .seed = seed},
                       .start = {.is_state_lost = seed % 7 == 0, .is_first_start = seed % 2 == 0}});
    live(node, seed);
    if (!node.broken().empty()) return;
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
