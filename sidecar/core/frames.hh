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

#include "base/clock.hh"
#include "base/names.hh"
#include "core/identity.hh"
#include "core/member_view.hh"
#include "core/store_record.hh"

namespace bellwether {

// The types that messages are counted under; the first four are those that the papers count.
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
  kCanvass,
  kCanvassReply,
  kGrant,
  kLast = kGrant,
};
inline constexpr size_t kFrameTypes = kValues<FrameType>;

// As metrics, traces and scenario files write it: "ELECTION", "ANSWER", ...
inline const char* name(FrameType type) {
  static constexpr Names<FrameType> kNames(
      {"ELECTION", "ANSWER", "HANDOVER", "COORDINATOR", "PRIVATE", "REFUSAL", "HEARTBEAT",
       "HEARTBEAT_ACK", "RESIGN", "LEAVE", "MEMBERS", "WISH", "CANVASS", "CANVASS_REPLY", "GRANT"});
  return kNames[type];
}

inline bool is_election_type(FrameType type) { return type <= FrameType::kCoordinator; }

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
  int64_t score = 0;          // with which it claimed: its rank stays as it was for the epoch
};

// The highest epoch that a voter has released, as far as the sender has heard it.
struct RememberedRelease {
  Uuid voter{};
  uint64_t epoch = 0;

  friend bool operator==(const RememberedRelease&, const RememberedRelease&) = default;
};

// The first words of a connection, both ways, before any frame.
struct Hello {
  Header header;
  MemberEntry self;
  std::optional<LeaderHint> leader{};
  ViewVersion view;
  uint64_t voters = 0;  // Electorate::hash(), or StoreGuard::hash; 0: guard "none"
  // Guard "majority": whoever finds itself here with more than its disk has was put back to an
  // older state, and may have forgotten a vote.
  std::vector<RememberedRelease> remembered{};
};

// More are not told.  One for each voter, and some for voters that came back with another id.
inline constexpr size_t kMaxRemembered = 16;

// What a claim asks of voters under guard "majority"; all zero under guard "none".
struct Terms {
  uint64_t voters = 0;  // Electorate::hash()
  Duration lease{};     // how long a promise lasts, from the receipt of the frame
};

// ELECTION, ANSWER, HANDOVER and private kinds: what a plugin may send.
constexpr bool is_plugin_message(uint32_t kind) {
  return (kind >= ELECTION_MESSAGE_ELECTION && kind <= ELECTION_MESSAGE_HANDOVER) ||
         (kind >= ELECTION_MESSAGE_FIRST_PRIVATE && kind <= ELECTION_MESSAGE_LAST_PRIVATE);
}

// A plugin's message, carried as it is.
struct ElectionFrame {
  uint32_t kind = 0;
  uint32_t flags = 0;
  uint64_t round = 0;
  std::vector<election_id> ids{};
  std::optional<LeaderHint> leader{};  // on ANSWER; on ELECTION the sender, if it leads
};

// The leader asks `its successor` to claim at once; no election is needed.
struct PlannedHandover {
  static constexpr FrameType kType = FrameType::kHandover;
  bool is_appointed = false;
  StoreVersion version{};  // guard on a store: of the record that names the successor
};

// The sender claims the epoch in the header (COORDINATOR; other texts say VICTORY).  Under guard
// "majority" it leads when a heartbeat says so.
struct Coordinator {
  static constexpr FrameType kType = FrameType::kCoordinator;
  bool is_appointed = false;
  bool is_planned = false;  // the leader, or an operator, has asked it to
  uint64_t sequence = 0;    // it counts as a heartbeat
  Terms terms{};
  int64_t score = 0;  // as in LeaderHint
};

// The reply to a claim that was not accepted.
struct Refusal {
  static constexpr FrameType kType = FrameType::kRefusal;
  uint64_t refused_epoch = 0;
  std::optional<LeaderHint> leader{};  // whom the sender follows instead
};

struct Heartbeat {
  static constexpr FrameType kType = FrameType::kHeartbeat;
  uint64_t sequence = 0;
  bool is_appointed = false;
  // false: the sender has claimed, but does not lead yet; where a store decides, it leads no more,
  // and its successor does not lead yet.
  bool is_effective = true;
  bool is_planned = false;
  bool is_draining = false;  // its application finishes what it has begun, and then it hands over
  Terms terms{};
  int64_t score = 0;  // as in LeaderHint
};

struct HeartbeatAck {
  static constexpr FrameType kType = FrameType::kHeartbeatAck;
  uint64_t sequence = 0;
  // A voter supports the sender of the heartbeat in this epoch, and nobody else, for the length of
  // the lease; 0: no promise.
  uint64_t promised_epoch = 0;
  ViewVersion view;  // how new the sender's list of members is
  bool is_electable = false;
  std::optional<Refusal> refusal{};  // nothing: accepted
};

// "Would you grant my claim?"  Asked before a claim, so that one without prospects burns no epoch.
// And asked by a voter that has lost its state, whom the answer's header tells what was claimed;
// and, of a leader that works, by whoever is to have its place (node_takeover.cc).
struct Canvass {
  static constexpr FrameType kType = FrameType::kCanvass;
  uint64_t number = 0;
  uint64_t voters = 0;
  bool is_lost = false;
  bool is_planned = false;  // an operator wants the claim; not of voters
  // To the leader, and under a guard on a store to all: it is asked to hand over to the sender,
  // whose score is this.
  bool is_take_over = false;
  int64_t score = 0;
  uint64_t holder_boot = 0;  // guard on a store: the life whose record the sender waits for
};

struct CanvassReply {
  static constexpr FrameType kType = FrameType::kCanvassReply;
  uint64_t number = 0;  // of the question
  bool is_yes = false;
  // The sender has lost its state, or has never heard of a claim.
  bool is_lost = false;
  std::optional<LeaderHint> leader{};  // with a no, and of a leader: whom the sender follows
  // Of the leader that is asked for its place.  With a yes: for so long it may wait for its
  // application to finish.  With a no: then the sender may ask again; zero, if the ranks say no.
  Duration wait{};
  // The sender could lead, and knows that the life whose record is waited for has ended.
  bool has_proof = false;
};

// What a voter has promised, as it stands in its grant.
struct Wait {
  Uuid leader{};
  uint64_t epoch = 0;
  Duration left{};
};

// A voter's answer to a claim.
struct Grant {
  static constexpr FrameType kType = FrameType::kGrant;
  uint64_t epoch = 0;  // the claimed one
  bool is_granted = false;
  uint64_t sequence = 0;  // of the COORDINATOR or heartbeat; a grant is also the promise
  std::vector<Wait> waits{};
  Duration boot_wait{};  // what an earlier life of the voter had promised may run for so long
  std::optional<LeaderHint> leader{};  // with a refusal
};

// "I lead no longer": the header says which epochs.
struct Resign {
  static constexpr FrameType kType = FrameType::kResign;
};

// "I leave the group."
struct Leave {
  static constexpr FrameType kType = FrameType::kLeave;
  uint64_t boot = 0;  // which life of the process leaves; a later one is not meant
};

// One immutable view serves all frames of a broadcast, hence shared.
struct MembersFrame {
  static constexpr FrameType kType = FrameType::kMembers;
  std::shared_ptr<const MemberView> view;
};

// What a member says of itself, when what its HELLO said is no longer so: by which variant it wants
// to elect, and what its application is worth.
struct Wish {
  static constexpr FrameType kType = FrameType::kWish;
  std::string variant;
  uint64_t boot = 0;      // whose words the rest are; a later life of the process is not meant
  uint64_t revision = 0;  // as in MemberEntry; 0: it speaks of its variant alone
  bool is_electable = false;
  Ability ability = Ability::kAble;
  int64_t score = 0;
};

struct Frame {
  Header header;
  std::variant<ElectionFrame, PlannedHandover, Coordinator, Refusal, Heartbeat, HeartbeatAck,
               Resign, Leave, MembersFrame, Wish, Canvass, CanvassReply, Grant>
      body;
};

FrameType type_of(const Frame& frame);

}  // namespace bellwether
