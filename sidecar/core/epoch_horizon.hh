// How far ahead of what is known here a peer's epoch may be.
//
// Epochs never fall, so one message with the last of them all would end all elections for ever; and
// a bound that depends only on what the judge knows shuts out for ever a node that was away while
// the others were led beyond it.  So what is far ahead is not jumped to but approached: in steps,
// of which there is a limited number in any time.  A node that was away comes as far as the others
// have come meanwhile.  To use all epochs up takes a century without a leader, and thousands of
// years under one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.hh"
#include "core/options.hh"

namespace bellwether {

class EpochHorizon {
 public:
  // Time passes: `known` is the highest epoch that this process has seen.
  void look_around(Instant now, uint64_t known) {
    if (now < next_look_) return;
    seen_ = known;
    next_look_ = now + kBetweenLooks;
  }

  bool covers(uint64_t epoch) const { return epoch <= std::max(horizon_, beyond(seen_, kMissed)); }

  // A peer has named an epoch that is not covered.  A process without a leader has more to win by
  // believing it, and goes faster: such peers ask again every few seconds, and are told how far it
  // has come meanwhile.
  void approach(Instant now, bool has_leader) {
    const Duration pace = has_leader ? kBetweenStepsWhenLed : kBetweenSteps;
    if (last_step_ && now < *last_step_ + pace) return;
    const auto due = last_step_ && !has_leader ? (now - *last_step_) / pace : 1;
    const auto steps = std::min(static_cast<uint64_t>(due), kStepsAtOnce);
    horizon_ = beyond(std::max(horizon_, seen_), steps * kStep);
    last_step_ = now;
  }

 private:
  // Elections that a process may have missed while it was cut off.
  static constexpr uint64_t kMissed = 1024;
  static constexpr Duration kBetweenLooks = std::chrono::seconds(1);
  static constexpr uint64_t kStep = uint64_t{1} << 32;
  static constexpr uint64_t kStepsAtOnce = 8;
  static constexpr Duration kBetweenSteps = std::chrono::seconds(1);
  static constexpr Duration kBetweenStepsWhenLed = std::chrono::minutes(1);

  static constexpr uint64_t beyond(uint64_t epoch, uint64_t distance) {
    return epoch + std::min(distance, std::numeric_limits<uint64_t>::max() - epoch);
  }

  uint64_t horizon_ = 2 * kLatestEpochSeed;  // every first epoch, and all that follow it
  std::optional<Instant> last_step_{};
  uint64_t seen_ = 0;  // at the last look: frames in a row do not earn each other's leap
  Instant next_look_{};
};

}  // namespace bellwether
