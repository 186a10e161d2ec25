// Giving leadership up in good order: step-down, transfer, leave, and to a higher rank that asks
// (node_takeover.cc).  The application may finish first (node_drain.cc).  Under guard "none" the
// flag goes off first, then the successor is asked to claim: the group is without a leader for one
// message. Under guard "majority" the leader leads on until the successor claims.
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

void Node::on(const StepDown& step_down) {
  if (!is_leading()) {
    effects_.push_back(Outcome{Outcome::Kind::kNotLeader});
    return;
  }
  effects_.push_back(Outcome{Outcome::Kind::kDone});
  forgive_askers();
  if (step_down.hold > Duration::zero()) timers_.arm(Timer::kHold, now_ + step_down.hold);
  if (!handover_) {
    const auto drain_reason =
        step_down.is_now ? std::nullopt : std::optional(DrainReason::kStepDown);
    begin_handover(std::nullopt, false, drain_reason, step_down.hold);
    if (is_draining()) handover_->steps_down = true;
    return;
  }
  if (step_down.hold == Duration::zero()) timers_.disarm(Timer::kHold);  // the later one counts
  handover_->hold = step_down.hold;
  handover_->steps_down = true;
  if (step_down.is_now) hand_over_drained(DrainEnd::kCut);
}

void Node::on(const Transfer& transfer) {
  const Member* target = members_.find(transfer.to);
  Outcome::Kind outcome = Outcome::Kind::kDone;
  if (!is_leading()) {
    outcome = Outcome::Kind::kNotLeader;
  } else if (target == nullptr) {
    outcome = Outcome::Kind::kUnknownMember;
  } else if (!target->is_candidate()) {
    outcome = Outcome::Kind::kNotEligible;
  }
  effects_.push_back(Outcome{outcome});
  if (outcome != Outcome::Kind::kDone) return;
  forgive_askers();
  if (is_draining()) return redirect_handover(transfer.to, true, DrainReason::kTransfer);
  begin_handover(transfer.to, true, DrainReason::kTransfer);
}

void Node::on(const LeaveGroup&) {
  const bool is_second = std::exchange(is_leaving_, true);
  update_electable();
  if (is_second && is_draining()) return hand_over_drained(DrainEnd::kCut);
  if (is_leading() && handover_) return;  // it leaves when that is done
  if (is_leading()) return begin_handover(std::nullopt, false, DrainReason::kLeave);
  if (is_claiming()) give_up_claim("it leaves the group");
  tell_plugin(ELECTION_EVENT_STAND_DOWN);
  if (!handover_) finish_leaving();
}

// Also begins it anew, with another successor: one that was asked before and claims all the same is
// a candidate like any other.  `drain_reason`: the application is asked to finish first, once.
void Node::begin_handover(std::optional<Uuid> successor, bool is_appointed,
                          std::optional<DrainReason> drain_reason, Duration hold) {
  // It may have stopped leading just now.
  const uint64_t epoch = is_leading() ? leader()->epoch : record_.max_epoch;
  std::optional<Drain> drain_so_far = handover_ ? handover_->drain : std::nullopt;
  const bool is_to_drain = drain_reason && !drain_so_far && is_leading() && is_to_finish();
  handover_ = Handover{.named = successor,
                       .is_appointed = is_appointed,
                       .epoch = epoch,
                       .hold = hold,
                       .drain = drain_so_far};
  update_electable();
  is_to_drain ? begin_drain(*drain_reason) : hand_over();
}

void Node::hand_over() {
  if (is_leading() && !leads_until_succeeded()) abdicate(Why::kHandedOver);
  ask_successor();
}

void Node::abdicate(Why why) {
  stop_leading(why);
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_STEPPED_DOWN);
}

void Node::try_next_successor() {
  if (!handover_) return;
  const Member* candidate = next_successor();
  if (candidate == nullptr) {
    if (is_leading()) abdicate(Why::kNobodyTookOver);
    send_to_connected(Resign{});
    return finish_handover();
  }
  handover_->tried.push_back(candidate->entry.id);
  send(candidate->entry.id, PlannedHandover{.is_appointed = handover_->is_appointed});
  timers_.arm(Timer::kHandover, now_ + options_.handover_timeout);
}

// The leader that asks has not heard yet that this node is out, and asks the next at once.
void Node::decline_handover(Member& from) {
  effects_.push_back(Stale{FrameType::kHandover, from.entry.id});
  send(from.entry.id, new_wish());
  declined_.note(from.entry.id, now_ + options_.handover_timeout);
}

// Whoever asks in an election hears that this node cannot lead, or gives way, and may win by that;
// but not by the word of one that stays with its leader, and says which that is.
void Node::note_answer(const Uuid& asker, uint32_t flags) {
  const bool gives_way = (flags & ELECTION_FLAG_TAKES_PART) != 0;
  if (!do_words_decide() || !gives_way || (flags & ELECTION_FLAG_ELECTABLE) != 0) return;
  declined_.note(asker, now_ + options_.coordinator_timeout);
}

// It has come to an end, or to nothing.
void Node::expect_no_win_of(const Uuid& asker) {
  if (!declined_.forget(asker) || now_ < declined_.until()) return;
  if (timers_.is_armed(Timer::kElect)) schedule_election(elect_reason_);
}

bool Node::is_kept_out() const {
  return do_words_decide() && now_ < declined_.until() && may_lead() && elector_.is_idle() &&
         std::holds_alternative<Leaderless>(role_);
}

// The leader hears of it, or that it is gone.  What it writes into a store meanwhile comes first.
void Node::on_declined(const Uuid& id) {
  if (!handover_ || handover_->tried.empty() || handover_->tried.back() != id) return;
  if (!store_ || !store_->request) on_handover_timer();
}

// The highest that was not asked yet; nullptr: there is none, or enough have been asked.
const Member* Node::next_successor() const {
  const std::vector<Uuid>& tried = handover_->tried;
  if (tried.size() == kMaxSuccessors) return nullptr;
  const auto& all = members_.all();
  const auto candidate = std::find_if(all.rbegin(), all.rend(), [&](const Member& member) {
    const MemberEntry& entry = member.entry;
    if (handover_->named && entry.id != *handover_->named) return false;
    return entry.id != members_.self().id && member.is_candidate() &&
           std::find(tried.begin(), tried.end(), entry.id) == tried.end();
  });
  return candidate == all.rend() ? nullptr : &*candidate;
}

// Somebody has claimed, or nobody wanted to.
void Node::finish_handover() {
  if (!handover_) return;
  handover_.reset();
  timers_.disarm(Timer::kHandover);
  if (is_leaving_) return finish_leaving();
  update_electable();
  arm_preemption();
}

void Node::finish_leaving() {
  role_ = Leaderless{};
  publish(Why::kLeft);
  send_to_connected(Leave{members_.self().boot});
  effects_.push_back(Left{});
  has_left_ = true;
}

}  // namespace bellwether
