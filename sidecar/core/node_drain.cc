// Before a leader hands over it asks its application to finish: it leads on, its heartbeats and its
// lease go on, and its flag says that nothing new is to be begun.  The hand-over comes when the
// application has said that it is done, or is gone, or its time is over; and at once when an
// operator does not want to wait.  Whatever else ends the reign ends the drain.  If there is nobody
// any more to take over, the leader stays, and its application goes on.
#include <algorithm>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

// Whether the application is one that is asked.
bool Node::is_to_finish() const {
  return application_.is_attached && options_.drain_timeout > Duration::zero();
}

bool Node::is_draining() const { return handover_ && handover_->is_draining(); }

const Drain* Node::drain() const {
  return is_leading() && handover_ && handover_->drain ? &*handover_->drain : nullptr;
}

bool Node::is_leader_draining() const {
  const auto* following = std::get_if<Following>(&role_);
  return following != nullptr ? following->is_draining : is_draining();
}

std::optional<Uuid> Node::successor() const {
  if (!handover_) return std::nullopt;
  if (handover_->named) return handover_->named;
  const Member* next = next_successor();
  return next == nullptr ? std::nullopt : std::optional(next->entry.id);
}

void Node::begin_drain(DrainReason reason) {
  handover_->drain = Drain{.number = ++drains_,
                           .epoch = handover_->epoch,
                           .reason = reason,
                           .since = now_,
                           .until = now_ + options_.drain_timeout};
  timers_.arm(Timer::kDrain, handover_->drain->until);
  timers_.disarm(Timer::kHandover);  // of a successor that was asked before, and may still claim
  publish();
  effects_.push_back(DrainBegun{*handover_->drain, successor()});
}

// What comes next is the caller's business.
void Node::end_drain(DrainEnd end) {
  if (!is_draining()) return;
  handover_->drain->is_over = true;
  timers_.disarm(Timer::kDrain);
  // An operator's hold begins when it leads no longer.
  if (handover_->hold > Duration::zero()) timers_.arm(Timer::kHold, now_ + handover_->hold);
  effects_.push_back(
      DrainEnded{.end = end, .took = now_ - handover_->drain->since, .refuses_for = stays_for()});
}

void Node::hand_over_drained(DrainEnd end) {
  if (!is_draining()) return;
  const bool may_stay = end != DrainEnd::kCut;
  if (may_stay && !seek_taker(Absent::kDoNotCount)) return;
  end_drain(end);
  // Whoever has asked for its place may be gone by now; an operator's word stands.
  const Member* named = handover_->named ? members_.find(*handover_->named) : nullptr;
  const bool is_gone = named == nullptr || !named->is_candidate();
  if (is_gone && !handover_->is_appointed) handover_->named.reset();
  hand_over();
}

void Node::on(const Drained& drained) {
  if (is_draining() && drained.drain == handover_->drain->number) {
    hand_over_drained(DrainEnd::kDrained);
  }
}

// Meanwhile somebody else is to have the place: the drain goes on as it is.
void Node::redirect_handover(std::optional<Uuid> successor, bool is_appointed, DrainReason reason) {
  refuse_place();
  handover_->named = successor;
  handover_->is_appointed = is_appointed;
  handover_->drain->reason = reason;
}

// After every input.  Whoever has only lost its connection may be back before the application has
// finished.
void Node::review_drain() {
  if (is_draining()) seek_taker(Absent::kCount);
}

// Whether there is somebody to drain for, maybe another one now; else the leader stays.  Whoever
// leaves goes on with that, whoever is there; and whoever is cut off from its guard could not stay.
bool Node::seek_taker(Absent absent) {
  if (is_leaving_ || has_taker(absent) || guard_obstacle() != Obstacle::kNone) return true;
  if (is_for_higher_rank()) note_asked_in_vain();
  if (handover_->steps_down && handover_->named) {
    redirect_handover(std::nullopt, false, DrainReason::kStepDown);
  } else if (const Member* next = next_asker()) {
    redirect_handover(next->entry.id, false, DrainReason::kTakeOver);
  }
  if (has_taker(absent)) return true;
  call_off_drain();
  return false;
}

bool Node::has_taker(Absent absent) const {
  const auto can = [&](const Member& member) { return can_take_over(member, absent); };
  if (!handover_->named) return std::ranges::any_of(members_.all(), can);
  const Member* named = members_.find(*handover_->named);
  if (named == nullptr || !can(*named)) return false;
  if (!is_for_higher_rank()) return true;
  // Its score may have fallen so far that this node would take the place back from it.
  Rank rank = named->entry.rank();
  const auto& question = handover_->question;
  if (question && named->entry.revision == question->revision) rank.score = question->score;
  return !preemption_.allows(members_.self().rank(), rank);
}

bool Node::can_take_over(const Member& member, Absent absent) const {
  const bool is_away = absent == Absent::kCount && member.entry.liveness == Liveness::kSuspect &&
                       member.entry.is_electable &&
                       now_ - member.since < options_.suspect_after_max;
  return member.entry.id != members_.self().id && (member.is_candidate() || is_away);
}

// Nobody but ranks has decided that this reign is to end.
bool Node::is_for_higher_rank() const {
  const auto& question = handover_->question;
  return handover_->drain->reason == DrainReason::kTakeOver && !(question && question->is_planned);
}

// The highest of those that have asked as well, and live on.
const Member* Node::next_asker() const {
  const bool is_appointed = std::get<Leading>(role_).is_appointed;
  if (handover_->drain->reason != DrainReason::kTakeOver || is_appointed) return nullptr;
  const std::vector<Asker>& outranked = handover_->outranked;
  const auto& all = members_.all();
  const auto next = std::find_if(all.rbegin(), all.rend(), [&](const Member& member) {
    const Asker life{.id = member.entry.id, .boot = member.entry.boot};
    return std::ranges::find(outranked, life) != outranked.end() &&
           can_take_over(member, Absent::kDoNotCount) &&
           preemption_.allows(member.entry.rank(), members_.self().rank());
  });
  return next == all.rend() ? nullptr : &*next;
}

// A drain for a place that nobody takes would keep the application from its work for nothing, and
// end with a worse leader or none.
void Node::call_off_drain() {
  remark("nobody takes over any more: the leader stays");
  refuse_place();
  handover_->hold = Duration::zero();
  end_drain(DrainEnd::kCalledOff);
  handover_.reset();
  timers_.disarm(Timer::kHold);
  update_electable();
  publish();
  tell_anew();  // a member that was refused for it asks again
}

}  // namespace bellwether
