// Layer B: when does a victory become effective?  The plugin may claim at any moment and may be
// wrong; the guard decides whether, and from when, the flag may say "leader".
//
// Guard "none" is the papers' own rule, a victory is effective when it is announced: right as long
// as messages arrive within the timeouts and the failure detector does not err.  A partition, or a
// leader that was only slow, gives two leaders until they hear of each other.
//
// Guard "majority" never gives two.  A leader needs the stored votes of a majority of the voters
// for its epoch, so an epoch has one leader; and it needs their promises, made by acknowledging its
// heartbeats, that none of them will support another one for a while (the lease), so at no moment
// do two flags say "leader".  Gray & Cheriton, "Leases", 1989; the votes are those of Paxos
// (Lamport 1998) and Raft (Ongaro & Ousterhout 2014).  A majority shares a voter with any other;
// that voter makes the later leader wait until its promise to the earlier one is over or released.
//
// What this file has is the guard's memory; its rules are in node_voter.cc,
// node_candidate.cc and node_recall.cc.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/candidacy.hh"
#include "core/electorate.hh"
#include "core/frames.hh"
#include "core/lease.hh"
#include "core/promises.hh"
#include "core/record.hh"

namespace bellwether {

// What a voter's vote is worth now.
enum class Vote : uint8_t {
  kNone,  // it is not a voter
  kInForce,
  kForgotten,  // its memory is lost, or older than it was: until it has asked the others
  kBroken,     // the disk does not keep it, or does not answer: until it does again
  kShutOut,    // voters are of an epoch that is too far ahead to be believed
  kLast = kShutOut,
};
const char* name(Vote vote);
// One sentence, for people; static.
const char* describe(Vote vote);

struct Majority {
  Majority(const std::vector<std::string>& voters, const std::string& self, Duration lease_length,
           const Record& stored, uint64_t seed)
      : electorate(voters),
        hash(electorate.hash()),
        slot(electorate.slot_of(self)),
        lease(lease_length),
        durable(stored),
        number(seed << 20) {}

  Electorate electorate;
  uint64_t hash;
  std::optional<size_t> slot;  // nothing: this process follows, but has no vote and never leads
  Duration lease;              // of this process, should it lead

  // --- as a voter ---
  Terms vote_terms{};            // of the claim that has this voter's vote
  uint64_t vote_sequence = 0;    // of the last frame that repeated it
  Record durable;                // what the disk is known to have
  bool is_store_broken = false;  // a write failed: no vote until one succeeds
  bool is_store_late = false;    // a write takes so long that others had better lead
  Instant unstored_since = kNever;
  Promises promises;
  // The canvass of each voter that was told no; 0: none.  It is told yes when the leader is lost.
  std::array<uint64_t, kMaxVoters> turned_down{};
  // What the life before this one had promised is over by then.
  Instant boot_until{};
  // The state is gone, or older than it was: this voter has forgotten what it promised.  It has no
  // vote until it has learnt from the others what it may have granted; see Node::recall().
  bool is_lost = false;
  bool is_asking = false;     // the wait before that is over
  Instant forgotten_until{};  // what was forgotten may have been promised until then
  Instant shut_out_until{};   // a voter was refused not long ago because of its epoch
  Votes recalled;             // voters that told what they know
  Votes also_lost;            // voters that know of no claim
  Votes remembering;          // voters that have ever shown that they know of a claim

  // --- as a candidate and as the leader ---
  std::optional<Candidacy> candidacy;
  std::optional<Lease> held;     // of the epoch that is claimed or led
  Instant stuck_since = kNever;  // since then a voter has been refusing this leader ...
  Instant stuck_last{};          // ... and did so last
  uint64_t number = 0;           // of the last canvass
  Duration patience{};           // beyond coordinator_timeout, after claims that took too long

  size_t quorum() const { return electorate.quorum(); }
};

}  // namespace bellwether
