// What a webhook is told: a CloudEvent 1.0 in structured mode, one for each change of leadership.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.hh"

namespace bellwether::api {

inline constexpr const char* kHookContentType = "application/cloudevents+json";

enum class HookEventType : uint8_t {
  kElected,  // this group has a leader where none was known
  kLost,     // no leader is known now
  kChanged,  // another leader
};

// "io.bellwether.leader.elected", ...
const char* name(HookEventType type);

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

}  // namespace bellwether::api
