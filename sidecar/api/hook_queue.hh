// What a webhook is told, a CloudEvent 1.0 in structured mode for each change of leadership; and
// what it does next: which event is sent, when it is tried again, when there is no more to try.
// Pure: time and outcomes are told.
//
// At most two events are kept: the one that is being delivered, however long that takes, and the
// newest.  Those in between are superseded, so a receiver that comes back sees few events, in
// order, and the last one is the present.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/backoff.hh"
#include "base/clock.hh"
#include "base/json.hh"
#include "base/names.hh"
#include "io/http/http_client.hh"

namespace bellwether::api {

enum class HookEventType : uint8_t {
  kElected,   // this group has a leader where none was known
  kLost,      // no leader is known now
  kChanged,   // another leader
  kDraining,  // this node leads, and lets its application finish before it hands over
  kLast = kDraining,
};
inline const char* name(HookEventType type) {
  static constexpr Names<HookEventType> kNames(
      {"io.bellwether.leader.elected", "io.bellwether.leader.lost", "io.bellwether.leader.changed",
       "io.bellwether.leader.draining"});
  return kNames[type];
}

struct HookEvent {
  HookEventType type{};
  std::string subject{};  // the leader's name; of kLost, the former leader's; empty: left out
  uint64_t sequence = 0;  // grows with each change; a gap says that changes were skipped
  std::string time{};     // of the change: RFC 3339, with milliseconds
  Json data{};            // as GET /v1/leader answers
};

// Who tells it.
struct HookSource {
  std::string group;
  std::string node;
  uint64_t boot = 0;  // names this life of the process, so that ids of events are unique
};

// Of one life only one event has a number, so receivers can recognise one that is delivered twice.
std::string event_id(const HookSource& source, uint64_t sequence);

// The whole body of the request.
std::string to_cloud_event(const HookSource& source, const HookEvent& event);

enum class HookOutcome : uint8_t {
  kDelivered,  // 2xx
  kFailed,     // it may be different soon: no answer, 408, 425, 429, 5xx
  kRejected,   // it will hardly be different before somebody acts: every other answer
  kGone,       // 410: the receiver wants no more
};

// Redirects are not followed and count as rejected.
HookOutcome outcome_of(const io::HttpClientResult& result);

class HookQueue {
 public:
  // The wait before the first retry; it doubles with each, up to the longest.  All waits are
  // spread by half of their length either way.  What was rejected waits the longest at once.
  static constexpr Duration kFirstWait = std::chrono::milliseconds(200);
  static constexpr Duration kLongestWait = std::chrono::seconds(30);
  // Of what a receiver may ask for.
  static constexpr Duration kLongestRetryAfter = std::chrono::minutes(5);

  explicit HookQueue(uint64_t seed) : waits_(seed, kFirstWait, kLongestWait, 2) {}

  // A new event.  Says whether it supersedes another one; after 410 it is dropped.
  bool push(HookEvent event);

  // The event to send now; nullptr while one is being sent or waits, and when there is none.  What
  // becomes of it is to be told by on_outcome().
  const HookEvent* take();
  // Returns how long to wait before due(); nothing when there is nothing to wait for.
  std::optional<Duration> on_outcome(HookOutcome outcome, std::optional<Duration> retry_after);
  // The wait is over: take() has the event again.
  void due() { is_waiting_ = false; }

  bool is_gone() const { return is_gone_; }

 private:
  Backoff waits_;                     // of the current event
  std::optional<HookEvent> current_;  // sent, or to be sent again
  std::optional<HookEvent> newest_;   // behind it
  bool is_sending_ = false;
  bool is_waiting_ = false;
  bool is_gone_ = false;
};

}  // namespace bellwether::api
