// What a voter's state is worth.
#include "core/guard.hh"

#include "base/names.hh"

namespace bellwether {

Vote Majority::vote(Instant now, bool has_leader) const {
  if (!slot) return Vote::kNone;
  if (!has_disk()) return Vote::kBroken;
  if (voter.recall.is_lost()) return Vote::kForgotten;
  // With a leader it is the other one that is alone.
  return now < shut_out_until && !has_leader ? Vote::kShutOut : Vote::kInForce;
}

Obstacle Majority::obstacle(size_t reached) const {
  if (!slot) return Obstacle::kNoVoter;
  if (voter.recall.is_lost()) return Obstacle::kForgotten;
  if (!has_disk()) return Obstacle::kNoDisk;
  return reached < quorum() ? Obstacle::kNoContact : Obstacle::kNone;
}

const char* name(Vote vote) {
  static constexpr Names<Vote> kNames({"none", "in force", "forgotten", "broken", "shut out"});
  return kNames[vote];
}

const char* describe(Vote vote) {
  static constexpr Names<Vote> kSentences({
      "this node is not a voter",
      "this voter's vote is in force",
      "this voter has no vote: it has forgotten what it granted",
      "this voter has no vote: its disk does not keep its state",
      "other voters are of an epoch that is too far ahead to be believed",
  });
  return kSentences[vote];
}

}  // namespace bellwether
