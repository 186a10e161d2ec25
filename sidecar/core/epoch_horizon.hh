// How far ahead of what is known here a peer's epoch may be.
//
// Epochs never fall, so one message with the last of them all would end all elections for ever; and
// a bound that depends only on what the judge knows shuts out for ever whoever was away while the
// others were led beyond it.  So what is far ahead is not jumped to but approached: in steps, of
// which there is a limited number in any time.  Whoever was away comes as far as the others have
// come meanwhile, and to use all epochs up takes thousands of years.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "core/clock.hh"
#include "core/options.hh"

namespace bellwether {

class EpochHorizon {
 public:
  // `known`: the highest epoch that this process has seen.
  bool covers(uint64_t epoch, uint64_t known) const {
    return epoch <= std::max(horizon_, beyond(known, kMissed));
  }

  // A peer has named an epoch that is not covered.  A process without a leader has more to win by
  // believing it, and goes faster.
  void approach(Instant now, uint64_t known, bool has_leader) {
    if (now < next_step_) return;
    horizon_ = beyond(std::max(horizon_, known), kStep);
    next_step_ = now + (has_leader ? kBetweenStepsWhenLed : kBetweenSteps);
  }

 private:
  // Elections that a process may have missed while it was cut off.
  static constexpr uint64_t kMissed = 1024;
  static constexpr uint64_t kStep = uint64_t{1} << 32;
  static constexpr Duration kBetweenSteps = std::chrono::seconds(1);
  static constexpr Duration kBetweenStepsWhenLed = std::chrono::minutes(1);

  static constexpr uint64_t beyond(uint64_t epoch, uint64_t distance) {
    return epoch + std::min(distance, std::numeric_limits<uint64_t>::max() - epoch);
  }

  uint64_t horizon_ = 2 * kLatestEpochSeed;  // every first epoch, and all that follow it
  Instant next_step_{};
};

}  // namespace bellwether
