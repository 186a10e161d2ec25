// What sidecars say to each other, as values.  How they become bytes is the codec's business; who
// sent a frame is known from the connection it came over.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/identity.hh"
#include "core/member_view.hh"

namespace bellwether {

// Stands in every frame.
struct Header {
  uint64_t epoch = 0;  // the highest the sender has seen; its own while it leads
  // "I do not lead, and never again will lead, any epoch up to this": the one way to release
  // leadership.  Late and duplicate releases are harmless because they name their epoch.
  uint64_t released = 0;
};

// "I follow this leader", or "I am it".
struct LeaderHint {
  Uuid id{};
  uint64_t epoch = 0;
  bool is_appointed = false;  // an operator named it; it is not preempted
};

// The first words of a connection, both ways, before any frame.
struct Hello {
  Header header;
  MemberEntry self;
  std::optional<LeaderHint> leader{};
  ViewVersion view;
};

// ELECTION, ANSWER, HANDOVER and the plugin's private kinds: a plugin's message, carried as it is.
struct ElectionFrame {
  uint32_t kind = 0;
  uint32_t flags = 0;
  uint64_t round = 0;
  std::vector<election_id> ids{};
  std::optional<LeaderHint> leader{};  // on ANSWER
};

// The leader asks `its successor` to claim at once; no election is needed.
struct PlannedHandover {
  bool is_appointed = false;
};

// The sender claims the epoch in the header (COORDINATOR; other texts say VICTORY).
struct Coordinator {
  bool is_appointed = false;
};

// The reply to a claim that was not accepted.
struct Refusal {
  uint64_t refused_epoch = 0;
  std::optional<LeaderHint> leader{};  // whom the sender follows instead
};

struct Heartbeat {
  uint64_t sequence = 0;
  bool is_appointed = false;
};

struct HeartbeatAck {
  uint64_t sequence = 0;
  ViewVersion view;  // how new the sender's list of members is
  bool is_electable = false;
  std::optional<Refusal> refusal{};  // nothing: accepted
};

// "I lead no longer": the header says which epochs.
struct Resign {};

// "I leave the group."
struct Leave {
  uint64_t boot = 0;  // which life of the process leaves; a later one is not meant
};

// One immutable view serves all frames of a broadcast, hence shared.
struct MembersFrame {
  std::shared_ptr<const MemberView> view;
};

// "I want to elect by this variant": what HELLO said of it is no longer so.
struct Wish {
  std::string variant;
};

struct Frame {
  Header header;
  std::variant<ElectionFrame, PlannedHandover, Coordinator, Refusal, Heartbeat, HeartbeatAck,
               Resign, Leave, MembersFrame, Wish>
      body;
};

// The types that messages are counted under.
enum class FrameType : uint8_t {
  kElection,
  kAnswer,
  kHandover,
  kCoordinator,
  kPrivate,
  kRefusal,
  kHeartbeat,
  kHeartbeatAck,
  kResign,
  kLeave,
  kMembers,
  kWish,
  kLast = kWish,
};
inline constexpr size_t kFrameTypes = static_cast<size_t>(FrameType::kLast) + 1;

FrameType type_of(const Frame& frame);

// As metrics, traces and scenario files write it: "ELECTION", "ANSWER", ...
const char* name(FrameType type);

// The four that the papers count.
bool is_election_type(FrameType type);

}  // namespace bellwether
