// The heartbeat path allocates nothing, the checks of each step included: a sidecar that beats for
// a year must not depend on the heap.  operator new is counted in this program only.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <new>

#include "core/self_check.hh"
#include "node_harness.hh"

namespace {

uint64_t allocations = 0;

void* allocate(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace bellwether::tests {
namespace {

constexpr int kWarmUp = 10;
constexpr int kBeats = 5000;
constexpr uint32_t kMembers = 9;
constexpr Duration kInterval = milliseconds(100);

// The harness copies effects; here a node is stepped as the shell does it.
struct Bare {
  explicit Bare(uint32_t self)
      : node(bellwether_election_plugin, Options{}, member_entry(self), Record{}) {
    step(Start{});
    for (uint32_t number = 1; number <= kMembers; ++number) {
      if (number != self) step(LinkUp{NodeHarness::hello_of(number)});
    }
  }

  const Effects& step(const Input& input) {
    self_check.before_step(now, input);
    const Effects& effects = node.step(now, input);
    is_sound &= !self_check.broken_by_step(effects).has_value();
    return effects;
  }

  template <typename Body>
  static FrameReceived frame(uint32_t from, uint64_t released, Body body) {
    return {uuid(from), Frame{{.epoch = 1, .released = released}, body}};
  }

  Instant now{seconds(1000)};
  Node node;
  SelfCheck self_check{node};
  bool is_sound = true;
};

// Counts what `beat` allocates once its first runs have made room.
template <typename Beat>
uint64_t count_allocations(Beat beat) {
  for (int i = 0; i < kWarmUp; ++i) beat();
  const uint64_t before = allocations;
  for (int i = 0; i < kBeats; ++i) beat();
  return allocations - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(allocation)

BOOST_AUTO_TEST_CASE(allocations_are_counted) {
  const uint64_t before = allocations;
  delete new int(1);
  BOOST_TEST(allocations == before + 1);
}

BOOST_AUTO_TEST_CASE(a_follower_that_is_beaten_to_allocates_nothing) {
  Bare follower(3);
  uint64_t sequence = 0;
  bool acked = true;
  const uint64_t count = count_allocations([&] {
    follower.now += kInterval;
    const Effects& effects =
        follower.step(follower.frame(kMembers, 0, Heartbeat{.sequence = ++sequence}));
    acked &= std::holds_alternative<Send>(effects.back());
  });
  BOOST_TEST(count == 0u);
  BOOST_TEST(acked);
  BOOST_TEST(!follower.node.is_leading());
  BOOST_TEST(follower.is_sound);
}

BOOST_AUTO_TEST_CASE(a_follower_that_looks_at_its_timers_allocates_nothing) {
  Bare follower(3);
  uint64_t sequence = 0;
  const uint64_t count = count_allocations([&] {
    follower.now += kInterval / 2;
    follower.step(Tick{});
    follower.now += kInterval / 2;
    follower.node.step(follower.now,
                       follower.frame(kMembers, 0, Heartbeat{.sequence = ++sequence}));
  });
  BOOST_TEST(count == 0u);
}

BOOST_AUTO_TEST_CASE(a_leader_that_beats_and_is_answered_allocates_nothing) {
  Bare leader(kMembers);
  leader.step(Joined{});
  leader.step(Tick{});
  BOOST_REQUIRE(leader.node.is_leading());
  size_t beats = 0;
  const uint64_t count = count_allocations([&] {
    leader.now += kInterval;
    for (const Effect& effect : leader.step(Tick{})) {
      if (std::holds_alternative<Send>(effect)) ++beats;
    }
    const ViewVersion view = leader.node.members().version();
    for (uint32_t number = 1; number < kMembers; ++number) {
      leader.node.step(leader.now,
                       leader.frame(number, 1, HeartbeatAck{.view = view, .is_electable = true}));
    }
  });
  BOOST_TEST(count == 0u);
  BOOST_TEST(leader.is_sound);
  BOOST_TEST(beats == (kWarmUp + kBeats) * (kMembers - 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
