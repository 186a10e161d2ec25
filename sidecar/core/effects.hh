// What goes into the node and what comes out.  The effects of one step are an ordered list: the
// shell carries them out in order.  That order is part of the protocol: the flag goes off before
// the frame that releases leadership because it stands before it.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/clock.hh"
#include "core/ability.hh"
#include "core/frames.hh"
#include "core/handover.hh"
#include "core/identity.hh"
#include "core/options.hh"
#include "core/record.hh"
#include "core/store_record.hh"
#include "core/why.hh"

namespace bellwether {

// --- inputs ---

// The process has started.  The last two concern voters only.
struct Start {
  // The state of earlier lives is gone, or there was none.
  bool is_state_lost = false;
  // By an operator's word nothing was ever promised that could still be in force.
  bool is_first_start = false;
};

// Every peer that was to be found at start has answered, or has been proven absent.
struct Joined {};

// A connection to a peer is up, and this is what it said first.
struct LinkUp {
  Hello hello;
  // MemberEntry::revision in this node's own HELLO there; nothing: it has not changed since.
  std::optional<uint64_t> told{};
};

// What the end of a connection says of the process at its other end.
enum class LinkEvidence : uint8_t {
  kClosed,   // FIN or RST: the connection is gone, the process may live
  kRefused,  // and its host refuses new ones: the process is gone
  kTimeout,  // nothing came back for too long
  kLast = kTimeout,
};
const char* name(LinkEvidence evidence);

struct LinkDown {
  Uuid peer{};
  LinkEvidence evidence{};
  // The refusal proves that the process is gone and its flag off (`death_proof`); only with
  // kRefused.
  bool is_proof = false;
};

// Only from peers whose LinkUp came and whose LinkDown did not.
struct FrameReceived {
  Uuid from{};
  Frame frame;
};

// Node::deadline() has passed.
struct Tick {};

// A Persist effect was carried out, or failed.  They are carried out in their order; only the last
// of several that waited need be.
struct Persisted {
  Record record;
  bool is_ok = true;
};

// Guards on a store.  `clock_ms` is the wall clock when the answer or the event came: what a record
// does not tell any more begins beyond it.

// The record as it is, or was a moment ago: the answer to StoreRead, or an event of the watch.
struct StoreSeen {
  uint64_t number = 0;  // of the request; 0: an event
  StoreSight sight;
  uint64_t clock_ms = 0;
};
// The answer to StoreWrite: written, as this version; or the record is another one.
struct StoreAnswered {
  uint64_t number = 0;
  bool is_written = false;
  StoreVersion version{};
  uint64_t clock_ms = 0;
};
// There was no answer, or none of use; it may have been written all the same.
struct StoreFailed {
  uint64_t number = 0;  // 0: the watch
  StoreFailure why{};
  Duration retry_after{};  // as the store wishes
};

// The operator's commands.  An Outcome tells what became of the first four, at once; LeaveGroup
// ends with Left.
struct Elect {};
struct StepDown {
  Duration hold{};      // how long this node then stays out
  bool is_now = false;  // the application is not asked to finish first, or not waited for any more
};
struct Transfer {
  Uuid to{};
};
// Strikes all members of this name off the list that are gone; only the leader can.
struct Forget {
  std::string name;
};
// A second one does not wait for the application any more.
struct LeaveGroup {};

// What the application beside this process is worth from now on; able, and 0, until the first.
struct Application {
  Ability ability = Ability::kAble;
  int64_t score = 0;
  bool is_attached = false;  // somebody is there who can be asked to finish

  bool is_able() const { return ability == Ability::kAble; }
  friend bool operator==(const Application&, const Application&) = default;
};

// The application has finished what it had begun, as it was asked to.
struct Drained {
  uint64_t drain = 0;  // Drain::number: a late word of one that was called off ends no later one
};

// The configuration was read again.  Taken over are timeouts and intervals, reap_after, preempt,
// its delay and margin, and the wanted variant, which must be one of the plugin's; the rest stays
// as it is.
struct Reconfigure {
  Options options;
};

using Input = std::variant<Start, Joined, LinkUp, LinkDown, FrameReceived, Tick, Persisted,
                           StoreSeen, StoreAnswered, StoreFailed, Elect, StepDown, Transfer, Forget,
                           LeaveGroup, Reconfigure, Application, Drained>;

// --- effects ---

// Over the connection to `to`; an attempt that is counted even when there is none.
struct Send {
  Uuid to{};
  Frame frame;
};

// Tell the peer why, end the connection, and dial it again rarely: what stands against it may be
// over one day.
struct RefuseLink {
  Uuid peer{};
  Unfit why{};
};

// End the connection, and dial again as after any: the peer is not a member any more, and only the
// HELLO of a new connection makes it one.
struct EndLink {
  Uuid peer{};
};

// Make the record durable.
struct Persist {
  Record record;
};

// Keep the member list; lazily, nothing waits for it.
struct PersistMembers {
  // One immutable view is shared with the node and with the frames that carry it.
  std::shared_ptr<const MemberView> view;
};

// Ask the store for the record, or write it if it is still the one of that version (empty: if there
// is none).  Nothing is sent twice.  A request ends the one before, whose answer comes to nothing.
struct StoreRead {
  uint64_t number = 0;
  Duration patience{};
};
struct StoreWrite {
  uint64_t number = 0;
  Duration patience{};
  StoreVersion expected{};
  StoreRecord record;
};
// Tell of each change of the record from now on, and of the record as it is; or no longer.
struct StoreWatch {
  bool is_wanted = false;
};

// What the application may know, at once: flag, hooks and events follow from it.
struct Publish {
  bool is_leader = false;
  uint64_t epoch = 0;            // of the leadership named here
  std::optional<Uuid> leader{};  // nullopt: none is known
  Instant valid_until{};         // is_leader holds no longer than this unless published again
  std::optional<Why> why{};      // nothing: only valid_until moved on, or is_draining
  bool is_draining = false;      // leads, and nothing new is to be begun; until it leads no longer
};

// The application is asked to finish what it has begun.
struct DrainBegun {
  Drain drain;
  std::optional<Uuid> successor{};  // as it looks now; nothing: nobody can lead
};

// It is not waited for any more.
struct DrainEnded {
  DrainEnd end{};
  Duration took{};
  Duration refuses_for{};  // from now on, its place to higher ranks
};

// Members were added, removed or changed: connections and answers follow Node::members().
struct MembersChanged {};

// The next six are for people, and are counted: logs, trace, metrics.  All texts are static.

// The plugin entered the state ELECTION_STATE_*.
struct Progress {
  uint32_t state = 0;
  const char* text = "";  // the plugin's: because of what
};

struct TimedOut {
  Awaited what{};
};

// A frame of an older epoch was ignored.
struct Stale {
  FrameType type{};
  Uuid from{};
};

// A peer, or a frame of it, was not usable.
struct Rejected {
  Unfit why{};
  Uuid peer{};
};

// A member is seen as another than before.
struct Sighting {
  Uuid peer{};
  Liveness liveness{};
};

// Anything else worth a line.
struct Remark {
  const char* text = "";
  std::optional<Uuid> peer{};
};

// What became of Elect, StepDown, Transfer or Forget: whether it was begun, not how it ends.
struct Outcome {
  enum class Kind : uint8_t { kDone, kNotLeader, kUnknownMember, kNotEligible, kStillThere };
  Kind kind{};
};

// The node has left the group; nothing will come out of it any more.
struct Left {};

// The plugin broke its contract, and the process must stop; nothing will come out of the node any
// more.
struct Failed {
  std::string text;
};

using Effect =
    std::variant<Send, RefuseLink, EndLink, Persist, PersistMembers, StoreRead, StoreWrite,
                 StoreWatch, Publish, DrainBegun, DrainEnded, MembersChanged, Progress, TimedOut,
                 Stale, Rejected, Sighting, Remark, Outcome, Left, Failed>;
using Effects = std::vector<Effect>;

// Whoever watches effects lists those that it ignores, so that a new one is not ignored by
// oversight: `template <OneOf<Send, Left> Ignored> void on(const Ignored&) {}`.
template <typename Type, typename... Listed>
concept OneOf = (std::is_same_v<Type, Listed> || ...);

}  // namespace bellwether
