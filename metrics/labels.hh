// The values that labels can have, as types: a series is chosen by enumerators and found by index.
// Every label is bounded by its type.  name() gives the text of a value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/names.hh"
#include "core/frames.hh"
#include "core/guard.hh"
#include "core/member_view.hh"
#include "core/why.hh"

namespace bellwether {
enum class FrameFlaw : uint8_t;  // io/wire/codec.hh
}

namespace bellwether::metrics {

enum class Direction : uint8_t {
  kSent,
  kReceived,
  kUndeliverable,  // there was no connection, or no room in its queue
  kLast = kUndeliverable,
};
const char* name(Direction direction);

enum class ByteDirection : uint8_t { kSent, kReceived, kLast = kReceived };
const char* name(ByteDirection direction);

// Why this node's part in an election began.
enum class Trigger : uint8_t {
  kStarted,     // this process came up and found no leader
  kLeaderLost,  // the leader is suspected or known to be dead
  kResigned,    // the leader said that it leads no longer
  kOutranks,    // this process outranks the leader
  kOperator,    // somebody asked for it here
  kRetry,       // there was no leader after an earlier election or hand-over
  kAsked,       // a peer's ELECTION or HANDOVER
  kLast = kAsked,
};
const char* name(Trigger trigger);

// How this node's part in an election ended.
enum class Result : uint8_t {
  kWon,        // this node leads
  kFollowed,   // another one leads
  kKept,       // the leader that was there before still leads
  kAbandoned,  // there is no leader
  kLast = kAbandoned,
};
const char* name(Result result);

// What elections consist of: the four types that the papers count, and a plugin's own.
enum class ElectionType : uint8_t {
  kElection,
  kAnswer,
  kHandover,
  kCoordinator,
  kPrivate,
  kLast = kPrivate,
};
const char* name(ElectionType type);

// Whether it is known what an election would have cost by each variant.
enum class ShadowResult : uint8_t {
  kCounted,
  kOnHold,  // no: a member above the initiator could not lead for a while
  kLast = kOnHold,
};
const char* name(ShadowResult result);

// Why bytes of a peer were not used; why the node has no use for a frame says Unfit.
enum class Rejection : uint8_t {
  kBadMagic,         // not a sidecar at all
  kBadVersion,       // another version of the protocol
  kForeignGroup,     // a sidecar of another group
  kOversized,        // a length beyond the limit
  kBadChecksum,      // damaged on the way
  kMalformed,        // the body is not what its kind says
  kTooEarly,         // a frame before HELLO
  kUnexpectedHello,  // a second HELLO
  kUnknownKind,      // skipped; a later release may know it
  kOwnId,            // the peer has the id of this process
  kDuplicateId,      // another living process has the peer's id
  kDuplicateName,    // another living process has the peer's name
  kTurnedAway,       // the peer has rejected this process
  kOther,
  kLast = kOther,
};
const char* name(Rejection rejection);
Rejection rejection_of(FrameFlaw flaw);

// Why a refused connection, which else would, does not prove the end of a peer.
enum class Doubt : uint8_t {
  kBetween,    // somebody stands between this node and the peer
  kTogether,   // all peers have ended, and refuse, within a moment
  kSilent,     // the kernel does not say who listens
  kListening,  // connections are refused where somebody listens
  kLast = kListening,
};
const char* name(Doubt doubt);

enum class HookResult : uint8_t {
  kDelivered,
  kFailed,      // one attempt failed; there will be another
  kGone,        // the receiver wants no more (410)
  kSuperseded,  // a newer state took its place before it was delivered
  kLast = kSuperseded,
};
const char* name(HookResult result);

enum class Reload : uint8_t {
  kApplied,
  kRefused,  // something is wrong with it; the configuration before stays in force
  kLast = kRefused,
};
const char* name(Reload reload);

// Bounds that keep one peer, client or disk from using up this process; each hit is counted.
enum class Limit : uint8_t {
  kInputQueue,       // inputs of the node that wait for the disk
  kSendQueue,        // frames that wait for a peer to read
  kPeerConnections,  // connections from peers
  kHttpConnections,  // connections of clients
  kHttpHeader,       // bytes of a request's header
  kHttpBody,         // bytes of a request's body
  kHttpIdle,         // time a connection may be silent
  kHttpUnsent,       // bytes that wait for a client to read
  kEventStreams,     // clients that follow /v1/events
  kLongPolls,        // clients that wait for /v1/leader?index=
  kLogLines,         // lines of the log that came too often, or that nobody reads
  kLast = kLogLines,
};
const char* name(Limit limit);

}  // namespace bellwether::metrics
