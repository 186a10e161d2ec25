// Votes and promises.
#include "core/voter.hh"

#include <algorithm>

#include "base/names.hh"
#include "core/lease.hh"

namespace bellwether {
namespace {

bool is_for(const Claim& beat, const Record& vote) {
  return vote.granted_to == beat.claimant && vote.max_epoch == beat.epoch;
}

}  // namespace

const char* words(Objection objection) {
  static constexpr Names<Objection> kWords({
      "no objection",
      "no vote for it: its [voters] are not this node's",
      "no vote for it: its lease is too short, or too long",
      "no vote for it: this voter has lost its state",
      "no vote for it: this voter cannot store one",
      "no vote for it: its epoch is over, or granted to another",
      "no vote for it: there is a leader",
  });
  return kWords[objection];
}

Objection Voter::objection_to(const Claim& claim, const Record& vote, bool is_supported) const {
  if (claim.terms.voters != voters_ || !claim.is_of_voter) return Objection::kOtherVoters;
  if (!is_lawful_lease(claim.terms.lease)) return Objection::kLease;
  if (recall.is_lost()) return Objection::kLost;
  if (is_store_broken_) return Objection::kStore;
  if (claim.epoch < vote.max_epoch) return Objection::kStale;
  if (claim.epoch == vote.max_epoch) {
    // What this voter had granted in it, it has forgotten.  But a majority has granted it to this
    // leader, so nobody else can lead it any more.
    const bool is_late = claim.is_effective && vote.granted_to == Uuid{};
    const bool is_granted = vote.granted_to == claim.claimant;
    return is_granted || is_late ? Objection::kNone : Objection::kStale;
  }
  return is_supported ? Objection::kNone : Objection::kLeader;
}

// A new record also when only the lease is longer than any before: a restarted voter reports how
// long what it promised may still run.
Record Voter::vote_for(const Claim& claim, const Record& vote) {
  set_terms(claim.terms);
  sequence_ = claim.sequence;
  return {.max_epoch = claim.epoch,
          .granted_to = claim.claimant,
          .lease_seen = std::max(vote.lease_seen, claim.terms.lease)};
}

Record Voter::vote_for_self(const Uuid& self, uint64_t epoch, Duration lease, const Record& vote) {
  longest_lease_ = std::max(longest_lease_, lease);
  return {.max_epoch = epoch, .granted_to = self, .lease_seen = std::max(vote.lease_seen, lease)};
}

// Not before this life knows the terms of its vote, which the next heartbeat of a leader that an
// earlier life voted for tells: it is not promised more than is stored.
Record Voter::without_earlier_lives(const Record& vote, Instant now) const {
  Record shorter = vote;
  const bool is_known = longest_lease_ != Duration::zero();
  if (is_known && now >= boot_until_) shorter.lease_seen = longest_lease_;
  return shorter;
}

Grant Voter::grant(const Record& vote, Instant now) {
  Grant grant{.epoch = vote.max_epoch, .is_granted = true};
  for (const Promise& made : promises(now).all()) {
    if (made.leader == vote.granted_to) continue;
    grant.waits.push_back({made.leader, made.epoch, made.until - now});
  }
  grant.boot_wait = std::max(boot_until_ - now, Duration::zero());
  // The promise counts from the receipt of the frame, and later is as good.
  if (promise(vote.granted_to, vote.max_epoch, terms_, now)) grant.sequence = sequence_;
  return grant;
}

void Voter::hear_again(const Claim& beat, const Record& vote) {
  const bool has_same_terms =
      beat.terms.voters == terms_.voters && beat.terms.lease == terms_.lease;
  if (is_for(beat, vote) && has_same_terms) sequence_ = std::max(sequence_, beat.sequence);
}

bool Voter::promise_again(const Claim& beat, const Record& vote, Instant now) {
  if (!has_vote() || !is_for(beat, vote) || !is_lawful_lease(beat.terms.lease)) return false;
  if (terms_.lease != beat.terms.lease && !is_restored(beat.terms, vote)) return false;
  if (!promise(beat.claimant, beat.epoch, beat.terms, now)) return false;
  sequence_ = beat.sequence;
  return true;
}

const Promises& Voter::promises(Instant now) {
  promises_.expire(now);
  return promises_;
}

// A voter that was restarted has its vote from the disk, and the terms from the next heartbeat.
bool Voter::is_restored(const Terms& terms, const Record& vote) {
  const bool is_first = terms_.lease == Duration::zero();
  if (!is_first || terms.voters != voters_ || terms.lease > vote.lease_seen) return false;
  set_terms(terms);
  return true;
}

void Voter::set_terms(const Terms& terms) {
  terms_ = terms;
  longest_lease_ = std::max(longest_lease_, terms.lease);
}

// False when there are too many promises already.
bool Voter::promise(const Uuid& leader, uint64_t epoch, const Terms& terms, Instant now) {
  promises_.expire(now);
  return promises_.make({.leader = leader, .epoch = epoch, .until = now + terms.lease});
}

}  // namespace bellwether
