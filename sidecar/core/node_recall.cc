// Guard "majority", a voter that has lost its state: it does not know what it has granted, and a
// second vote in one epoch could make two leaders.  So it has no vote until it has asked.
//
//   1. It waits until every promise of an earlier life is over.
//   2. Then it asks all voters for the highest epoch they know.  Answers of as many others as make
//      a majority are enough: they share a voter with every majority that its forgotten vote could
//      have been part of.  Asked before the wait, a claim that is still under way could be missed.
//   3. It takes the highest epoch as its own, granted to nobody.  Whoever leads it already, so by
//      the votes of a majority, may have this vote, too.
//
// Or all other voters have answered, and too few of them remember: then nobody is left who could
// know more.  No promise is left after the wait either, so there are not two leaders; and epochs
// go on rising if the wall clock at the start of a voter that had to guess was beyond all that were
// ever counted up to: it takes its epoch from there (Options::epoch_seed).
#include <algorithm>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// At least, for an answer to an earlier question counts no more.
constexpr Duration kAskAgain = std::chrono::milliseconds(500);

}  // namespace

void Node::begin_recall(bool is_first_start) {
  const Instant forgotten_until = now_ + kMaxLease;
  majority_->voter.recall.begin(forgotten_until);
  update_electable();
  remark("has no vote until it has learnt what it may have granted");
  timers_.arm(Timer::kRecall, is_first_start ? now_ : forgotten_until);
}

void Node::recall() {
  majority_->voter.recall.ask();
  majority_->begin_question();
  if (majority_->electorate.size() == 1) return end_recall();
  canvass_others(true);
  timers_.arm(Timer::kRecall, now_ + std::max(kAskAgain, options_.answer_timeout));
}

// One that may have an answer has come.
void Node::ask_newcomer() {
  if (majority_ && majority_->voter.recall.is_asking()) recall();
}

void Node::on_recall_reply(size_t slot, const CanvassReply& reply) {
  Recall& recall = majority_->voter.recall;
  recall.note_reply(slot, reply.is_lost);
  const size_t others = majority_->electorate.size() - 1;
  if (recall.recalled() >= majority_->quorum()) return end_recall();
  if (recall.answered() < others) return;
  // The voters were replaced one by one, by others: those may have a leader still.
  if (now_ < other_voters_.until && other_voters_.knows_epoch) return;
  const bool has_waited = now_ >= recall.forgotten_until();
  if (!has_waited && known_epoch() != 0) return;
  // Also where nobody knows of any epoch: those that led may all have forgotten it.
  if (has_waited) raise_epoch(options_.epoch_seed);
  end_recall();
}

void Node::end_recall() {
  timers_.disarm(Timer::kRecall);
  majority_->voter.recall.end();
  record_ = {.max_epoch = known_epoch(), .lease_seen = record_.lease_seen};
  effects_.push_back(Persist{record_});
  remark("has a vote again");
  update_electable();
  change_opinions();
}

// A state folder that was put back from a copy is not lost, and looks as good as any.  But what a
// voter releases it has stored before (header()), so whoever remembers more than the disk has
// proves that the disk is not what it was.  Nobody need remember; this finds the mistake, and is
// not a part of why there are never two leaders.
std::vector<RememberedRelease> Node::remembered() const {
  std::vector<RememberedRelease> releases;
  if (!majority_) return releases;
  for (const Member& member : members_.all()) {
    if (member.released == 0 || !member.slot) continue;
    if (releases.size() == kMaxRemembered) break;
    releases.push_back({.voter = member.entry.id, .epoch = member.released});
  }
  return releases;
}

// What a voter that has just connected knows: whether it has voted at all, and what of this one.
void Node::note_memory(const Member& voter, const Hello& hello) {
  const auto slot = voter.slot;
  if (!slot || !majority_->slot) return;
  if (hello.header.epoch != 0) majority_->voter.recall.note_memory(*slot);
  for (const RememberedRelease& release : hello.remembered) {
    const bool is_later = release.epoch > majority_->disk.stored().max_epoch;
    if (release.voter != members_.self().id || !is_later || !is_plausible(release.epoch)) continue;
    doubt_state(release.epoch);
  }
}

// As if it were lost.  A leader among those who doubt themselves gives up: it may have granted its
// epoch to another one.
void Node::doubt_state(uint64_t remembered) {
  raise_epoch(remembered);
  if (majority_->voter.recall.is_lost()) return;
  remark("its state was put back to an older one: a peer remembers more");
  begin_recall(false);
  effects_.push_back(Persist{record_});  // as that of a voter that has forgotten
  if (seeks_to_lead()) give_up_claim("its state is an older one");
  if (!is_leading()) return;
  abdicate(Why::kStateIsOlder);
  send_to_connected(Resign{});
  finish_handover();
}

bool Node::waits_for_vote(Instant now) const {
  switch (vote(now)) {
    case Vote::kNone:
    case Vote::kInForce:
      return false;
    case Vote::kForgotten:
      return !majority_->voter.recall.is_asking() || !has_met_all_ ||
             majority_->voter.recall.does_anybody_remember();
    case Vote::kBroken:
    case Vote::kShutOut:
      return true;
  }
  return false;
}

}  // namespace bellwether
