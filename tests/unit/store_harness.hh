// One node under a guard on a store, stepped by hand: the store and the disk answer when they are
// told to.
#pragma once

#include "node_harness.hh"

namespace bellwether::tests {

inline Options with_store() {
  Options options;
  options.store = "a store";
  options.lease = seconds(2);
  options.renew_interval = milliseconds(400);
  return options;
}

// Member 3 is the highest of 1..3 unless a case connects others.
class StoreHarness : public NodeHarness {
 public:
  static constexpr uint64_t kClock = 500;
  static constexpr uint64_t kElsewhere = 1234;  // another home

  explicit StoreHarness(const Options& options = with_store())
      : NodeHarness({.self = 3, .options = options}) {
    step(Start{});
    connect(1);
    connect(2);
  }

  Effects seen(const StoreVersion& version, const StoreRecord& record) {
    return step(StoreSeen{number(), {version, record}, kClock});
  }
  Effects event(const StoreVersion& version, const StoreRecord& record) {
    return step(StoreSeen{0, {version, record}, kClock});
  }
  Effects written(const StoreVersion& version) {
    return step(StoreAnswered{number(), true, version, kClock});
  }
  Effects conflict() { return step(StoreAnswered{number(), false, {}, kClock}); }
  Effects failed() { return step(StoreFailed{number(), StoreFailure::kUnreachable, {}}); }
  Effects stored() { return step(Persisted{node().record(), true}); }
  uint64_t number() const { return node().store()->number; }
  bool asks() const { return node().store()->request.has_value(); }

  static StoreRecord held_by(uint32_t holder, uint64_t epoch) {
    return {.holder = StoreRecord::Holder::kMember,
            .id = uuid(holder),
            .name = {},
            .home = home(holder),
            .boot = 1,
            .epoch = epoch,
            .lease = seconds(2)};
  }
  // By a process that has a copy of this one's state.
  static StoreRecord held_by_twin(uint64_t epoch) {
    StoreRecord record = held_by(3, epoch);
    record.home = kElsewhere;
    return record;
  }
  static StoreRecord released(uint64_t epoch) {
    return {.holder = StoreRecord::Holder::kReleased,
            .id = uuid(1),
            .name = {},
            .epoch = epoch,
            .lease = seconds(2)};
  }

  // Its election is won: it reads.
  Effects bid() {
    Effects effects = step(Joined{});
    for (Effect& effect : run_for(Duration::zero())) effects.push_back(std::move(effect));
    return effects;
  }
  // ... and has claimed epoch 8 over a released record.
  Effects claim() {
    bid();
    return seen("a", released(7));
  }
  void lead_by_store() {
    claim();
    stored();
    written("b");
  }
};

}  // namespace bellwether::tests
