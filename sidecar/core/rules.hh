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

  // Those of guard "majority".
  kWaitForPromises,     // a claimant waits until its voters' promises are over
  kVoteOnce,            // a voter grants an epoch to one claimant only
  kStoreBeforeGrant,    // a grant, and a promise, leave when the disk has the vote
  kBootWait,            // a restarted voter reports what its earlier life may have promised
  kLeaseFromSend,       // a leader counts its lease from the sending of the heartbeat
  kValidityMargin,      // and believes in it for 0.8 of its length
  kReleaseNamesEpoch,   // a release voids promises up to its epoch only
  kReleaseWhenStored,   // a frame shows no epoch as released that the disk does not have
  kFrameLease,          // a voter promises for the lease that the frame names, not for its own
  kFreshPromise,        // a promise counts from the receipt of the heartbeat
  kRecallFromMajority,  // a voter that lost its state asks a majority of the others
  kRecallAfterWait,     // and waits for old leases to end before it asks
  kGuessByClock,        // where no majority remembers, it takes an epoch from its wall clock
  kDoubtState,          // a voter has no vote while a peer remembers more than its disk
  kCanvass,             // a candidate asks before it claims
  kSticky,              // a voter that hears a leader supports no lower claimant
  kStepDownWithLease,   // a leader whose lease runs out stops
  kResignAtEnd,         // and says so
  kLeaseToLead,         // a claimant leads while its lease runs: grants alone may be old
  kTakeOverWaits,       // a take-over waits, the longer the more often leadership was lost
  kDirectProof,         // a refusal proves an end only where nobody stands between
  kProofApart,          // and only when not all peers are gone at once

  // What guard "majority" takes for granted of its world; the virtual cluster breaks these.
  kBootTime,        // a process's clock goes on while the process, or its host, is stopped
  kDurableDisk,     // what the disk says it has it still has after a crash
  kNewIdentity,     // who comes back without its state comes back under a new id
  kHonestRefusal,   // a host refuses connections to a process that has ended, and to no other
  kFlagEndsInTime,  // a process's flag is off before its peers can learn of its end
  kLast = kFlagEndsInTime,
};

class RuleSet {
 public:
  constexpr RuleSet() = default;
  constexpr explicit RuleSet(Rule rule) : bits_(bit(rule)) {}
  constexpr bool contains(Rule rule) const { return (bits_ & bit(rule)) != 0; }
  friend constexpr bool operator==(const RuleSet&, const RuleSet&) = default;

 private:
  static_assert(static_cast<unsigned>(Rule::kLast) < 64);
  static constexpr uint64_t bit(Rule rule) { return uint64_t{1} << static_cast<unsigned>(rule); }

  uint64_t bits_ = 0;
};

}  // namespace bellwether
