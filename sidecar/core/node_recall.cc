// Guard "majority", a voter that has lost its state: it does not know what it has granted, and a
// second vote in one epoch could make two leaders.  So it has no vote until it has asked.
//
//   1. It waits until every promise of an earlier life is over.
//   2. Then it asks all voters for the highest epoch they know.  Answers of as many others as make
//      a majority are enough: they share a voter with every majority that its forgotten vote could
//      have been part of.  Asked before the wait, a claim that is still under way could be missed.
//   3. It takes the highest epoch as its own, granted to nobody.
//
// Or all voters answer, and none knows of any claim, as in a new group: then there is nothing to
// remember.  Should they all have forgotten, then no promise is left after the wait, and epochs go
// on rising because the first of a group is taken from the wall clock (Options::epoch_seed).
#include <algorithm>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// At least, for an answer to an earlier question counts no more.
constexpr Duration kAskAgain = std::chrono::milliseconds(500);

}  // namespace

void Node::begin_recall(bool is_first_start) {
  majority_->is_lost = true;
  update_electable();
  report(Report::Kind::kNote, "has no vote until it has learnt what it may have granted");
  const bool is_at_once = is_first_start || is_broken(Rule::kRecallAfterWait);
  timers_.arm(Timer::kRecall, is_at_once ? now_ : now_ + kMaxLease);
}

void Node::recall() {
  majority_->is_asking = true;
  ++majority_->number;
  majority_->recalled.clear();
  majority_->also_lost.clear();
  if (majority_->electorate.size() == 1) return end_recall();
  canvass_others(true);
  timers_.arm(Timer::kRecall, now_ + std::max(kAskAgain, options_.answer_timeout));
}

void Node::on_recall_reply(size_t slot, const CanvassReply& reply) {
  (reply.is_lost ? majority_->also_lost : majority_->recalled).add(slot);
  const size_t others = majority_->electorate.size() - 1;
  const size_t needed = is_broken(Rule::kRecallFromMajority) ? 1 : majority_->quorum();
  const bool is_new_group = majority_->also_lost.count() == others && known_epoch() == 0;
  if (majority_->recalled.count() >= needed || is_new_group) end_recall();
}

void Node::end_recall() {
  timers_.disarm(Timer::kRecall);
  majority_->is_asking = false;
  majority_->is_lost = false;
  record_ = {.max_epoch = known_epoch(), .lease_seen = record_.lease_seen};
  effects_.push_back(Store{record_});
  report(Report::Kind::kNote, "has a vote again");
  update_electable();
}

// A state folder that was put back from a copy is not lost, and looks as good as any.  But what a
// voter releases it has stored before (header()), so whoever remembers more than the disk has
// proves that the disk is not what it was.  Nobody need remember; this finds the mistake, and is no
// part of why there are never two leaders.
std::vector<RememberedRelease> Node::remembered() const {
  std::vector<RememberedRelease> releases;
  if (!majority_) return releases;
  for (const Member& member : members_.all()) {
    if (member.released == 0 || !slot_of(member)) continue;
    if (releases.size() == kMaxRemembered) break;
    releases.push_back({.voter = member.entry.id, .epoch = member.released});
  }
  return releases;
}

bool Node::is_state_too_old(const Hello& hello) const {
  if (!majority_ || !majority_->slot) return false;
  return std::any_of(hello.remembered.begin(), hello.remembered.end(), [&](const auto& release) {
    return release.voter == members_.self().id && release.epoch > majority_->durable.max_epoch;
  });
}

}  // namespace bellwether
