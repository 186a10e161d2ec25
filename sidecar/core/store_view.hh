// Guards on a store: what this process has seen of the group's record, and what follows from that
// alone.  It knows no members and sends nothing.
//
// Times of other machines are never compared.  Whoever holds the record believes in it for 0.8 of
// its length from the sending of a write on (validity_of()); whoever wants it waits for the whole
// length from the sight of that write on, which is later.  Gray & Cheriton, "Leases", 1989; the
// rule of the observer is that of client-go's leaderelection.
//
// A process is its id and its home (MemberEntry::home), for state folders are copied.
#pragma once

#include <algorithm>

#include "base/clock.hh"
#include "core/member_view.hh"
#include "core/store_record.hh"

namespace bellwether {

// Why this process may write over the record: the first that applies.
enum class Ground : uint8_t {
  kNone,
  kReleased,      // its holder has released it there
  kOwn,           // it names this process, which does not lead by it, or an earlier one of its home
  kSaidReleased,  // the holder has told that it never again leads that epoch
  kEnded,         // the life of the holder that it names is proven dead, or has left
  kWasHeld,       // somebody has made it anew while this process led
  kExpired,       // it was seen unchanged for its length
  kLast = kExpired,
};
const char* name(Ground ground);

// A member's lease is no longer, whatever somebody has written into its record.
inline constexpr Duration kMaxStoreLease = std::chrono::minutes(1);

class StoreView {
 public:
  explicit StoreView(Duration own_lease) : own_lease_(own_lease) {}

  // An answer or an event has shown it just now.  `clock_ms`: the wall clock.  `is_flag_on`: this
  // process leads.  Returns whether it is another than before.
  bool see(const StoreSight& sight, Instant now, uint64_t clock_ms, bool is_flag_on);
  // No record need say how long its holder believes in it: it may be deleted.  So the members tell
  // each other, and the longest counts.
  void set_members_lease(Duration longest);
  // Somebody else has written, or may have: nothing can be conditional on what was seen.
  void forget() { is_known_ = false; }

  bool is_known() const { return is_known_; }
  bool is_absent() const { return sight_.version.empty(); }
  const StoreVersion& version() const { return sight_.version; }
  // The last one seen, also when it is forgotten.
  const StoreRecord& record() const { return sight_.record; }
  // When that version was seen first (since it was forgotten, if it was), and last.
  Instant seen_at() const { return seen_at_; }
  Instant looked_at() const { return looked_at_; }
  // Since when it is the version that is seen, forgotten or not: for people, for it may have been
  // another one between.
  Instant changed_at() const { return changed_at_; }
  // Its holder cannot believe in it any more from then on.
  Instant over_at() const;
  // The longest that anybody waits for that, as far as is known: whoever has a longer lease than
  // this node's own has written it into the record, or says so.
  Duration longest_lease() const { return std::max({longest_ever_, own_lease_, members_lease_}); }

  // What is known of its holder: the highest epoch that it has told it never again leads, and that
  // the life which the record names has ended.
  struct HolderNews {
    uint64_t released = 0;
    bool has_ended = false;
  };
  Ground ground(Instant now, const MemberEntry& self, const HolderNews& news) const;
  // A process of this id and home.
  bool holds(const Uuid& id, uint64_t home) const {
    return is_known_ && record().is_held_by(id, home);
  }
  // Another process of the member's id, which runs elsewhere.
  bool is_held_by_twin_of(const MemberEntry& member) const {
    return is_known_ && record().is_held_by(member.id) && !holds(member.id, member.home);
  }

  // A claim over it takes this epoch, or a later one: where the record does not tell which epochs
  // there were, one that no clock has come to before.
  uint64_t least_epoch(Instant now) const;

 private:
  bool has_epoch() const;

  Duration own_lease_;
  Duration members_lease_{};
  StoreSight sight_;
  bool is_known_ = false;
  Instant seen_at_{};
  Instant looked_at_{};
  Instant changed_at_{};
  uint64_t clock_ms_ = 0;     // at seen_at_
  Duration longest_{};        // length, since there is this member's reign
  Duration longest_ever_{};   // of a member's
  bool was_flag_on_ = false;  // when this version was seen first
};

}  // namespace bellwether
