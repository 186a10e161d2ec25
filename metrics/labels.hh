// The values that labels can have, as types: a series is chosen by enumerators and found by index.
// Every label is bounded by its type.  name() gives the text of a value; types that others count,
// too, are in base/counted.hh and in the core.  Other labels have values that are fixed while the
// process lives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/counted.hh"
#include "core/frames.hh"
#include "core/guard.hh"
#include "core/member_view.hh"
#include "core/why.hh"

namespace bellwether::metrics {

enum class Direction : uint8_t {
  kSent,
  kReceived,
  kUndeliverable,  // there was no connection, or no room in its queue
  kLast = kUndeliverable,
};
inline const char* name(Direction direction) {
  static constexpr Names<Direction> kNames({"sent", "received", "undeliverable"});
  return kNames[direction];
}

enum class ByteDirection : uint8_t { kSent, kReceived, kLast = kReceived };
inline const char* name(ByteDirection direction) {
  static constexpr Names<ByteDirection> kNames({"sent", "received"});
  return kNames[direction];
}

// Why this node's part in an election began.
enum class Trigger : uint8_t {
  kStarted,               // this process came up and found no leader
  kLeaderLost,            // the leader is suspected or known to be dead
  kResigned,              // the leader said that it leads no longer
  kApplicationLost,       // this process led, its application is gone, and nobody has taken over
  kApplicationUnhealthy,  // the same of one that does not work
  kOutranks,              // this process outranks the leader
  kOperator,              // somebody asked for it here
  kRetry,                 // there was no leader after an earlier election or hand-over
  kAsked,                 // a peer's ELECTION or HANDOVER
  kLast = kAsked,
};
inline const char* name(Trigger trigger) {
  static constexpr Names<Trigger> kNames({"started", "leader_lost", "resigned", "application_lost",
                                          "application_unhealthy", "outranks", "operator", "retry",
                                          "asked"});
  return kNames[trigger];
}

// What an operator asks for by the API.
enum class Command : uint8_t {
  kStepDown,
  kTransfer,
  kElect,
  kReload,
  kForget,
  kAttach,  // from here on: the application, which is served here
  kScore,
  kDrained,
  kLast = kDrained
};
inline const char* name(Command command) {
  static constexpr Names<Command> kNames(
      {"step_down", "transfer", "elect", "reload", "forget", "attach", "score", "drained"});
  return kNames[command];
}

// What became of a question to the application.
enum class HealthCheck : uint8_t { kPassed, kFailed, kLast = kFailed };
inline const char* name(HealthCheck check) {
  static constexpr Names<HealthCheck> kNames({"passed", "failed"});
  return kNames[check];
}

// What serves HTTP over TCP.
enum class Listener : uint8_t { kApi, kMetrics, kLast = kMetrics };
inline const char* name(Listener listener) {
  static constexpr Names<Listener> kNames({"api", "metrics"});
  return kNames[listener];
}

// What a certificate is shown for.
enum class TlsUse : uint8_t { kMembers, kApi, kMetrics, kHooks, kLast = kHooks };
inline const char* name(TlsUse use) {
  static constexpr Names<TlsUse> kNames({"members", "api", "metrics", "hooks"});
  return kNames[use];
}

// Whether whoever asked was allowed to.
enum class Admission : uint8_t { kAllowed, kRefused, kLast = kRefused };
inline const char* name(Admission admission) {
  static constexpr Names<Admission> kNames({"allowed", "refused"});
  return kNames[admission];
}

// How this node's part in an election ended.
enum class Result : uint8_t {
  kWon,        // this node leads
  kFollowed,   // another one leads
  kKept,       // the leader that was there before still leads
  kAbandoned,  // there is no leader
  kLast = kAbandoned,
};
inline const char* name(Result result) {
  static constexpr Names<Result> kNames({"won", "followed", "kept", "abandoned"});
  return kNames[result];
}

// What elections consist of: the four types that the papers count, and a plugin's own.
enum class ElectionType : uint8_t {
  kElection,
  kAnswer,
  kHandover,
  kCoordinator,
  kPrivate,
  kLast = kPrivate,
};
inline const char* name(ElectionType type) { return name(static_cast<FrameType>(type)); }

// Whether it is known what an election would have cost by each variant.
enum class ShadowResult : uint8_t {
  kCounted,
  kOnHold,  // no: a member above the initiator could not lead for a while
  kLast = kOnHold,
};
inline const char* name(ShadowResult result) {
  static constexpr Names<ShadowResult> kNames({"counted", "on_hold"});
  return kNames[result];
}

// What a request to the store came to.
enum class StoreResult : uint8_t {
  kDone,
  kConflict,  // the record is another one than the write expected
  kFailed,    // a StoreFailure says why
  kLast = kFailed,
};
inline const char* name(StoreResult result) {
  static constexpr Names<StoreResult> kNames({"done", "conflict", "failed"});
  return kNames[result];
}

enum class Reload : uint8_t {
  kApplied,
  kRefused,  // something is wrong with it; the configuration before stays in force
  kLast = kRefused,
};
inline const char* name(Reload reload) {
  static constexpr Names<Reload> kNames({"applied", "refused"});
  return kNames[reload];
}

// What HTTP requests are counted under: a route, never the paths that clients send; and the codes
// that are counted one by one, all others as "other".
struct HttpRoute {
  std::string name;
  std::span<const unsigned> codes;
};

struct Identity {
  std::string group;
  std::string member;                 // this node's name in it
  std::string version;                // of the sidecar
  std::string plugin;                 // its name
  std::string abi;                    // "<major>.<minor>" of the plugin
  std::vector<std::string> variants;  // that the plugin has
  bool has_prices = false;            // it says what an election costs by each of them
  bool has_store = false;             // a record in a store decides who leads
  std::vector<HttpRoute> routes;      // that HTTP requests are counted under
};

}  // namespace bellwether::metrics
