// The checks of the running sidecar stop it, so nothing that peers say may break them: here they
// say anything at all, in any order; operators and the application do so, too, and the disk, the
// store and the clock do what they like.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>

#include "guard_harness.hh"
#include "store_harness.hh"

namespace bellwether::tests {
namespace {

constexpr int kLives = 300;
constexpr int kSteps = 400;

// What nodes have been in: dice that never get there prove nothing.
struct Seen {
  bool has_led = false;
  bool has_claimed = false;
  bool has_followed = false;
  bool has_drained = false;
  bool has_handed_over = false;

  void look_at(const Node& node) {
    has_led |= node.is_leading();
    has_claimed |= node.is_candidate();
    has_followed |= std::holds_alternative<Following>(node.role());
    has_drained |= node.drain() != nullptr;
    has_handed_over |= node.is_handing_over();
  }
};

class Strangers {
 public:
  Strangers(NodeHarness& node, uint64_t seed) : node_(node), random_(seed) {}

  void act() {
    switch (below(14)) {
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
      case 6:
        return note(application());
      case 7:
      case 8:
        return note(store());
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
  Duration lease() {
    return below(4) == 0 ? milliseconds(below(3)) : milliseconds(100 * below(150));
  }
  // Of whom the frame comes from: its [voters], or its record in a store.
  uint64_t electorate() {
    if (below(8) == 0) return below(2);
    if (node_.node().majority() != nullptr) return node_.node().majority()->hash;
    return node_.node().store() != nullptr ? node_.node().store()->hash : 0;
  }
  Terms terms() {
    const uint64_t voters = electorate();
    return {voters, lease()};
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
    made.voters = electorate();
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
    if (below(8) == 0) made.home = StoreHarness::kElsewhere;
    if (below(2) == 0) made.lease = lease();
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
    switch (below(8)) {
      case 0:
        return node_.step(Elect{});
      case 1:
        return node_.step(StepDown{.hold = milliseconds(below(2000)), .is_now = below(4) == 0});
      case 2:
        return node_.step(Transfer{uuid(peer())});
      case 3:
        return node_.step(Forget{NodeHarness::hello_of(peer()).self.name});
      case 4:
        return node_.step(reconfigured());
      case 5:
        return below(20) == 0 ? node_.step(LeaveGroup{}) : node_.tick();
      default:
        return node_.tick();
    }
  }

  Reconfigure reconfigured() {
    Options options = node_.node().options();
    options.heartbeat_interval = milliseconds(50 + below(100));
    options.suspect_after_min = milliseconds(500 + below(200));
    options.suspect_after_max = options.suspect_after_min + milliseconds(below(400));
    options.preempt = static_cast<Preempt>(below(kValues<Preempt>));
    options.preempt_delay = milliseconds(below(500));
    options.score_margin = static_cast<int64_t>(below(2));
    options.drain_timeout = milliseconds(below(2) * 400);
    options.variant = below(2) == 0 ? "classic" : "modified";
    return {options};
  }

  Effects application() {
    if (below(3) == 0) {
      const Drain* drain = node_.node().drain();
      return node_.step(Drained{drain != nullptr && below(4) != 0 ? drain->number : below(4)});
    }
    return node_.step(Application{.ability = static_cast<Ability>(below(kValues<Ability>)),
                                  .score = score(),
                                  .is_attached = below(2) == 0});
  }

  // --- the store ---

  // A read is answered with the record, and a write with what became of it: that is the shell's.
  Effects store() {
    const StoreGuard* store = node_.node().store();
    const bool is_read =
        store != nullptr && store->request && store->request->kind == StoreRequest::Kind::kRead;
    if (below(8) == 0) {
      return node_.step(StoreFailed{.number = request(),
                                    .why = static_cast<StoreFailure>(below(kValues<StoreFailure>)),
                                    .retry_after = milliseconds(below(3000))});
    }
    if (below(4) == 0) return node_.step(StoreSeen{0, sight(), clock_ms()});
    if (is_read) return node_.step(StoreSeen{request(), sight(), clock_ms()});
    return node_.step(StoreAnswered{request(), below(4) != 0, version(), clock_ms()});
  }

  uint64_t request() {
    const StoreGuard* store = node_.node().store();
    return store != nullptr && below(8) != 0 ? store->number : below(3);
  }

  uint64_t clock_ms() { return 500 + below(2); }

  StoreVersion version() {
    constexpr size_t kVersions = 20;
    const size_t number = below(kVersions);
    return number == 0 ? StoreVersion() : StoreVersion(1, static_cast<char>('a' + number));
  }

  StoreSight sight() { return {version(), record()}; }

  StoreRecord record() {
    const uint32_t holder = peer();
    return {.holder = static_cast<StoreRecord::Holder>(below(kValues<StoreRecord::Holder>)),
            .id = uuid(holder),
            .name = {},
            .home = below(4) == 0 ? StoreHarness::kElsewhere : home(holder),
            .boot = below(3),
            .epoch = below(40) == 0 ? random_() : epoch(),
            .lease = lease()};
  }

  template <typename Body>
  Effects say(Body body) {
    return node_.receive(peer(), epoch(), std::move(body), epoch());
  }

  // What a group that means well would say now, or it would never lead.
  Effects help() {
    const Node& node = node_.node();
    if (node.majority() != nullptr && node.majority()->canvassing) {
      return say(CanvassReply{.number = number(), .is_yes = true});
    }
    if (node.is_claiming()) {
      return say(Grant{.epoch = node.known_epoch(),
                       .is_granted = true,
                       .sequence = node.sequence(),
                       .waits = {},
                       .boot_wait = {}});
    }
    return say(HeartbeatAck{.sequence = node.sequence(),
                            .promised_epoch = node.known_epoch(),
                            .view = node.members().version(),
                            .is_electable = below(2) == 0});
  }

  Effects frame() {
    if (below(3) == 0) return help();
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
                           .voters = electorate(),
                           .is_lost = below(8) == 0,
                           .is_planned = below(8) == 0,
                           .is_take_over = below(2) == 0,
                           .score = score(),
                           .holder_boot = below(3)});
      case 7:
        return say(CanvassReply{.number = number(),
                                .is_yes = below(4) != 0,
                                .is_lost = below(4) == 0,
                                .leader = hint(),
                                .wait = milliseconds(below(300)),
                                .has_proof = below(4) == 0});
      case 8:
        return say(Refusal{epoch(), hint()});
      case 9:
        return say(Resign{});
      case 10:
        return say(PlannedHandover{.is_appointed = below(4) == 0, .version = version()});
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
    if (node_.node().store() != nullptr) return node_.node().store()->canvass;
    return node_.node().majority() != nullptr ? node_.node().majority()->number : 0;
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

// The harness judges every step.  False as soon as one is wrong.
bool live(NodeHarness& node, uint64_t seed, Seen& seen) {
  if (seed % 2 == 0) node.step(Application{.is_attached = true});
  Strangers strangers(node, seed);
  for (int i = 0; i < kSteps && node.broken().empty(); ++i) {
    seen.look_at(node.node());
    strangers.act();
  }
  BOOST_TEST(node.broken() == "", "seed " << seed << ": " << node.broken() << "; it wanted "
                                          << node.self_check().wanted() << " after "
                                          << node.self_check().last_inputs());
  return node.broken().empty();
}

void judge(const Seen& seen) {
  BOOST_TEST(seen.has_led);
  BOOST_TEST(seen.has_followed);
  BOOST_TEST(seen.has_drained);
  BOOST_TEST(seen.has_handed_over);
}

const auto kVariants = boost::unit_test::data::make({"classic", "modified"});

Options with_drain(Options options, const char* variant, uint64_t seed) {
  options.variant = variant;
  options.seed = seed;
  options.drain_timeout = seed % 2 == 0 ? milliseconds(400) : milliseconds(0);
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strangers)

// Every third life begins as a leader's, which dice rarely come to.

BOOST_DATA_TEST_CASE(nothing_that_is_said_makes_a_node_wrong, kVariants, variant) {
  Seen seen;
  for (uint64_t seed = 1; seed <= kLives; ++seed) {
    NodeHarness node(
        {.self = static_cast<uint32_t>(1 + seed % 5), .options = with_drain({}, variant, seed)});
    seed % 3 == 0 ? node.lead() : node.join();
    if (!live(node, seed, seen)) return;
  }
  judge(seen);
}

BOOST_DATA_TEST_CASE(nothing_that_is_said_makes_a_voter_wrong, kVariants, variant) {
  Seen seen;
  for (uint64_t seed = 1; seed <= kLives; ++seed) {
    const bool leads = seed % 3 == 0;
    GuardHarness node(
        {.self = leads ? 5 : static_cast<uint32_t>(1 + seed % 5),
         .options = with_drain({}, variant, seed),
         .start = {.is_state_lost = !leads && seed % 7 == 0, .is_first_start = seed % 2 == 0}});
    if (leads) {
      node.lead();
    } else {
      node.join();
    }
    if (!live(node, seed, seen)) return;
  }
  judge(seen);
  BOOST_TEST(seen.has_claimed);
}

BOOST_DATA_TEST_CASE(nothing_that_is_said_makes_a_node_with_a_store_wrong, kVariants, variant) {
  Seen seen;
  for (uint64_t seed = 1; seed <= kLives; ++seed) {
    StoreHarness node(with_drain(with_store(), variant, seed));
    if (seed % 3 == 0) node.lead_by_store();
    if (!live(node, seed, seen)) return;
  }
  judge(seen);
  BOOST_TEST(seen.has_claimed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
