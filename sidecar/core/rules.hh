// Rules of the protocol that a test can switch off, one at a time, to prove that the simulator's
// checks notice.  No configuration reaches this.
#pragma once

#include <cstdint>

namespace bellwether {

enum class Rule : uint8_t {
  kReannounce,            // a leader that meets a rival, or a newer epoch, claims anew or yields
  kRefuseStale,           // a COORDINATOR or heartbeat of an older epoch is refused
  kFlagOffBeforeRelease,  // the flag goes off before the frame that gives leadership up
  kClaimRaisesEpoch,      // every claim takes a new epoch
  kRetry,                 // an election without result is held again
  kHandoverTimeout,       // a successor that does not claim is given up
  kLast = kHandoverTimeout,
};

class RuleSet {
 public:
  constexpr RuleSet() = default;
  constexpr explicit RuleSet(Rule rule) : bits_(bit(rule)) {}
  constexpr bool contains(Rule rule) const { return (bits_ & bit(rule)) != 0; }

 private:
  static constexpr uint32_t bit(Rule rule) { return 1u << static_cast<unsigned>(rule); }

  uint32_t bits_ = 0;
};

}  // namespace bellwether
