// Why the node does what it does, as values.  Each has a name (the label of a metric), and what
// people are told; both stand in one table, in why.cc.
#pragma once

#include <cstdint>

namespace bellwether {

// Why the leader is another one, or none, from now on.  name() puts some of them under one label.
enum class Why : uint8_t {
  kStarted,
  kAnnounced,             // another node said that it leads
  kClaims,                // this node has claimed, and does not lead yet (not guard "none")
  kClaimed,               // this node leads
  kGranted,               // this voter has granted another one's claim
  kGrantedNewer,          // this voter led, and has granted a newer claim
  kYielded,               // this node led, and another one leads by right
  kClaimsAnew,            // this node led, and a voter supports newer epochs only
  kHandedOver,            // this node led, and asks its successor to
  kNobodyTookOver,        // this node led, and found no successor
  kNoMajority,            // this node led, and no majority answers any more
  kNotRenewed,            // this node led, and the store did not renew its lease in time
  kRecordTaken,           // this node led, and the store's record is another's
  kStateIsOlder,          // this voter has forgotten what it granted
  kApplicationLost,       // this node led, and its application is gone
  kApplicationUnhealthy,  // this node led, and its application does not work
  kLeaderLost,            // the leader is suspected or known to be dead
  kLeaderResigned,        // the leader said that it leads no longer
  kLeft,                  // this node left the group
  kPluginFailed,
  kLast = kPluginFailed,
};
const char* name(Why why);
const char* words(Why why);

// What did not come in time.
enum class Awaited : uint8_t {
  kHeartbeat,    // the leader's heartbeat
  kAnswer,       // ANSWER of some higher rank
  kCoordinator,  // COORDINATOR of the one that is expected to lead
  kElection,     // something that only the plugin knows
  kHandover,     // the claim of a successor, or the hand-over by a leader that was asked
  kDrain,        // the application's word that it has finished
  kCanvass,      // a majority's word that it would grant a claim
  kClaim,        // a majority's grants
  kLease,        // the renewal of the lease by a majority
  kStore,        // the store's answer
  kJoin,         // an answer of everybody who was looked for at start
  kHook,         // the answer of a webhook; not the core's
  kLast = kHook,
};
const char* name(Awaited awaited);

// Why a peer, or a frame of it, is of no use.
enum class Unfit : uint8_t {
  kOwnId,             // it has the id of this process
  kIdOfVoter,         // it has the id of a voter, and another name
  kEpochTooFarAhead,  // it is of another group, or broken
  kGroupFull,         // there are as many living members as there may be
  kOtherVoters,       // two leaders would not know of each other
  kNoVoter,           // voters alone lead, and it says that it does
  kNotConnected,      // no HELLO yet, or it has left
  kLast = kNotConnected,
};
const char* name(Unfit unfit);
const char* words(Unfit unfit);

// Why a request to the store came to nothing.  What was to be written may have been, unless the
// store itself said no.
enum class StoreFailure : uint8_t {
  kUnreachable,   // nobody there, or the connection broke
  kTimeout,       // no answer in time
  kTls,           // one side does not believe the other
  kUnauthorized,  // who we are is not believed
  kForbidden,     // who we are is, but may not do this
  kThrottled,     // it wants to be asked later
  kUnavailable,   // it is there, and cannot answer: no quorum, starting, stopping
  kMalformed,     // what came is not an answer of such a store
  kLast = kMalformed,
};
const char* name(StoreFailure failure);

}  // namespace bellwether
