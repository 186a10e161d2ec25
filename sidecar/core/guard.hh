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
// Guards on a store let the group's record there decide: store_guard.hh.
//
// What of guard "majority" lasts longer than a role is here; what a claimant or a leader has goes
// with its role (role.hh).  The rules of a voter are in voter.hh, those of the others in
// node_voter.cc, node_candidate.cc and node_recall.cc.  Where what a node does depends on its guard
// stands in node_guard.cc, but for single lines in a step that is common to all.
#pragma once

#include <optional>
#include <string>

#include "core/candidacy.hh"
#include "core/disk_watch.hh"
#include "core/electorate.hh"
#include "core/options.hh"
#include "core/record.hh"
#include "core/voter.hh"

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

// Why a node may not lead now: the first that applies.
enum class Obstacle : uint8_t {
  kNone,
  kPriorityZero,
  kNoVoter,        // guard "majority": its name is none of the [voters]
  kNoApplication,  // its application is not there, or does not work
  kHold,           // it stepped down, and stays out for a while
  kBootWait,       // what it promised before its restart may still be in force
  kHandingOver,    // it waits for its successor's claim
  kForgotten,      // its vote is lost
  kNoDisk,         // the disk does not keep its vote, or does not answer
  kNoContact,      // it reaches too few voters
  kNoStore,        // guard on a store: it did not answer when it was asked last
  kTwin,           // guard on a store: another process has this one's id
  kLeaving,
};

struct Majority {
  Majority(const Options& options, const std::string& self, const Record& stored)
      : electorate(options.voters),
        hash(electorate.hash()),
        slot(electorate.slot_of(self)),
        lease(options.lease),
        voter(hash),
        disk(stored),
        number(options.seed << 20) {}

  Electorate electorate;
  uint64_t hash;
  std::optional<size_t> slot;  // nothing: this process follows, but has no vote and never leads
  Duration lease;              // of this process, should it lead

  Voter voter;  // has nothing to say without a slot
  DiskWatch disk;
  Instant shut_out_until{};  // a voter was refused not long ago because of its epoch

  std::optional<Proposal> canvassing;  // before a claim; ends with it
  uint64_t number;                     // of the last canvass
  Opinions opinions{};                 // of the last canvass, also when it is over
  bool is_timed_out = false;           // it is over, and was not decided in time
  Duration answer_patience{};  // beyond answer_timeout, after a canvass that was decided late
  Duration patience{};         // beyond coordinator_timeout, after claims that took too long

  void begin_question() {
    ++number;
    opinions = {};
    is_timed_out = false;
  }
  size_t quorum() const { return electorate.quorum(); }
  bool has_disk() const { return !voter.is_store_broken() && !disk.is_late(); }
  Vote vote(Instant now, bool has_leader) const;
  // Whatever of its own keeps a claim from being made; `reached`: voters, itself among them.
  Obstacle obstacle(size_t reached) const;
  // What it asks for when it claims.
  Terms terms() const { return {.voters = hash, .lease = lease}; }
};

}  // namespace bellwether
