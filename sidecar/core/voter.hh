// A voter of guard "majority": whom it grants an epoch, what it promises, and whether its vote is
// worth anything.  It knows no members and sends nothing: it is asked, and answers.
//
// A vote is stored before anybody hears of it, an epoch is granted to one claimant only, and the
// epochs granted only rise.  A promise to a leader lasts for its lease, from the receipt of its
// heartbeat on; a grant to another one lists the promises that still run, so that the claimant
// waits for them.  Of promises the disk has the longest lease only: for that long the next life
// takes all of them for running.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/clock.hh"
#include "core/electorate.hh"
#include "core/frames.hh"
#include "core/promises.hh"
#include "core/record.hh"

namespace bellwether {

// What asks for a vote and a promise: a COORDINATOR, or a heartbeat, which says the same again.
struct Claim {
  Uuid claimant{};
  bool is_of_voter = false;
  uint64_t epoch = 0;
  uint64_t sequence = 0;
  Terms terms{};
  bool is_effective = false;  // a majority has granted it already
  int64_t score = 0;          // as in LeaderHint
};

// Why a voter does not vote for a claim.
enum class Objection : uint8_t {
  kNone,
  kOtherVoters,
  kLease,
  kLost,
  kStore,
  kStale,
  kLeader,
  kLast = kLeader,
};
const char* words(Objection objection);

// A voter that has forgotten what it granted: whom it has asked since, and what they said.
// node_recall.cc has the whole story.
class Recall {
 public:
  // What was forgotten may have been promised until `until`.
  void begin(Instant until) {
    is_lost_ = true;
    forgotten_until_ = until;
  }
  // An answer to an earlier question counts no more.
  void ask() {
    is_asking_ = true;
    recalled_.clear();
    also_lost_.clear();
  }
  void note_reply(size_t slot, bool is_lost) {
    (is_lost ? also_lost_ : recalled_).add(slot);
    if (!is_lost) remembering_.add(slot);
  }
  // It has shown that it knows of a claim, whenever.
  void note_memory(size_t slot) { remembering_.add(slot); }
  void end() { is_lost_ = is_asking_ = false; }

  // There is no vote.
  bool is_lost() const { return is_lost_; }
  // The wait before the question is over.
  bool is_asking() const { return is_asking_; }
  Instant forgotten_until() const { return forgotten_until_; }
  size_t recalled() const { return recalled_.count(); }
  size_t answered() const { return recalled_.count() + also_lost_.count(); }
  bool has_recalled(size_t slot) const { return recalled_.contains(slot); }
  bool has_lost_its_own(size_t slot) const { return also_lost_.contains(slot); }
  bool does_anybody_remember() const { return remembering_.count() != 0; }

 private:
  bool is_lost_ = false;
  bool is_asking_ = false;
  Instant forgotten_until_{};
  Votes recalled_;     // voters that told what they know
  Votes also_lost_;    // voters that know of no claim
  Votes remembering_;  // voters that have ever shown that they know of one
};

class Voter {
 public:
  // `voters`: Electorate::hash().
  explicit Voter(uint64_t voters) : voters_(voters) {}

  // --- whether it has a vote ---
  bool has_vote() const { return !recall.is_lost() && !is_store_broken_; }
  // A write has failed, and none has succeeded since: whoever cannot keep a vote has none.  Nothing
  // is forgotten meanwhile: what was told of was stored before.
  bool is_store_broken() const { return is_store_broken_; }
  // Returns whether it was before.
  bool set_store_broken(bool is_broken) { return std::exchange(is_store_broken_, is_broken); }

  // --- votes: `vote` is the newest record ---
  // `is_supported`: this process has no leader that speaks against it.
  Objection objection_to(const Claim& claim, const Record& vote, bool is_supported) const;
  // The vote for a claim without objection, or for a claim of its own, to be stored.
  Record vote_for(const Claim& claim, const Record& vote);
  Record vote_for_self(const Uuid& self, uint64_t epoch, Duration lease, const Record& vote);
  // What the claimant is told of its vote, once the disk has it.
  Grant grant(const Record& vote, Instant now);

  // --- promises ---
  // A vote that is being stored will be granted as of this heartbeat: counted from the claim, the
  // lease would be over where a disk takes as long.
  void hear_again(const Claim& beat, const Record& vote);
  // Whether the leader that has this vote, and that the disk has it of, is promised its lease
  // again.
  bool promise_again(const Claim& beat, const Record& vote, Instant now);
  // The leader will never again lead an epoch up to this.  Returns whether a promise is void now.
  bool release(const Uuid& leader, uint64_t epoch) { return promises_.release(leader, epoch); }
  const Promises& promises() const { return promises_; }
  // What is left at `now`.
  const Promises& promises(Instant now);

  // --- earlier lives: of what they had promised only the longest lease is stored ---
  void start(Instant now, const Record& stored) { boot_until_ = now + stored.lease_seen; }
  // All of it is over by then.
  Instant boot_until() const { return boot_until_; }
  // `vote`, as it is to be stored when it remembers longer leases than it must; else as it is.
  Record without_earlier_lives(const Record& vote, Instant now) const;

  // --- opinions ---
  // The canvass of each voter that was told no; 0: none.  It is told yes when that has changed.
  void turn_down(size_t slot, uint64_t number) { turned_down_[slot] = number; }
  uint64_t take_turned_down(size_t slot) { return std::exchange(turned_down_[slot], 0); }

  // The terms of the claim that has this vote; all zero after a restart.
  const Terms& terms() const { return terms_; }

  Recall recall;

 private:
  bool is_restored(const Terms& terms, const Record& vote);
  void set_terms(const Terms& terms);
  bool promise(const Uuid& leader, uint64_t epoch, const Terms& terms, Instant now);

  uint64_t voters_;
  bool is_store_broken_ = false;
  Terms terms_{};
  uint64_t sequence_ = 0;  // of the last frame that repeated the claim
  Promises promises_;
  std::array<uint64_t, kMaxVoters> turned_down_{};
  Instant boot_until_{};
  Duration longest_lease_{};  // that this life may have promised; zero: none
};

}  // namespace bellwether
