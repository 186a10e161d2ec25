// Guard "majority", the voter among others: when it is asked, and whom it tells.  What it answers
// is Voter's (voter.hh).
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

bool Node::has_vote() const { return majority_->slot && majority_->voter.has_vote(); }

void Node::on_canvass(Member& from, const Canvass& canvass) {
  if (!majority_->slot) {
    return effects_.push_back(Rejected{Unfit::kOtherVoters, from.entry.id});
  }
  const bool is_lost = majority_->voter.recall.is_lost();
  CanvassReply reply{.number = canvass.number, .is_lost = is_lost || known_epoch() == 0};
  if (!canvass.is_lost) {
    const auto slot = from.slot;
    reply.is_yes = favours(from);
    if (!reply.is_yes) reply.leader = leader();
    if (slot) majority_->voter.turn_down(*slot, reply.is_yes ? 0 : canvass.number);
  }
  send(from.entry.id, reply);
}

// Its canvasses are counted anew.
void Node::forget_canvass(const Member& candidate) {
  if (candidate.slot) majority_->voter.turn_down(*candidate.slot, 0);
}

bool Node::favours(const Member& candidate) const {
  // Its own claim goes out as soon as the disk has it, and would meet the other one.
  const bool is_storing_claim = is_claiming() && lease() == nullptr;
  return candidate.slot && has_vote() && !is_storing_claim && supports(candidate, false);
}

// No two notice at the same instant that their leader is gone, or hear at the same instant that
// another one outranks it.  Whoever asked first, and was told no, would else wait until it tries
// again, or for ever.
void Node::change_opinions() {
  if (!majority_ || !has_vote()) return;
  for (const Member& member : std::as_const(members_).all()) {
    if (!member.slot || !member.is_connected || !favours(member)) continue;
    const uint64_t number = majority_->voter.take_turned_down(*member.slot);
    if (number == 0) continue;
    send(member.entry.id, CanvassReply{.number = number, .is_yes = true});
  }
}

// A voter that hears a leader stays with it, unless it is outranked and may be preempted; or the
// leader itself wants it so.  Safety does not need this: it keeps one with a broken link from
// disturbing all.
bool Node::supports(const Member& claimant, bool is_planned) const {
  if (is_planned) return true;
  const auto current = leader();
  if (!current || current->id == claimant.entry.id) return true;
  if (current->is_appointed) return false;
  const bool is_self = current->id == members_.self().id;
  const Member* leading = members_.find(current->id);
  if (leading == nullptr) return true;
  if (!is_self && leading->entry.liveness != Liveness::kAlive) return true;
  return preemption_.allows(claimant.entry.rank(), leading->entry.rank());
}

// A COORDINATOR, or a heartbeat of an epoch that is new here.
void Node::on_claim(Member& claimant, uint64_t epoch, const Coordinator& coordinator,
                    bool is_effective) {
  const Uuid id = claimant.entry.id;
  const auto* following = std::get_if<Following>(&role_);
  const bool is_known = following != nullptr && following->is_effective &&
                        following->leader == id && following->epoch == epoch;
  if (is_known) end_needless_election();
  // Without a vote it follows when the claim is effective.
  if (!majority_->slot || (is_known && backs(id, epoch))) return;
  const Claim claim{.claimant = id,
                    .is_of_voter = claimant.slot.has_value(),
                    .epoch = epoch,
                    .sequence = coordinator.sequence,
                    .terms = coordinator.terms,
                    .is_effective = is_effective,
                    .score = coordinator.score};
  // Whom a majority has accepted already is not for this voter to keep out.
  const bool is_supported = is_effective || supports(claimant, coordinator.is_planned);
  const Objection objection = majority_->voter.objection_to(claim, record_, is_supported);
  if (objection == Objection::kNone) return vote_for(claim, coordinator.is_appointed);
  if (is_known) return;
  remark(words(objection), id);
  send(id, Grant{.epoch = epoch, .leader = leader()});
}

bool Node::is_vote_stored() const { return majority_->disk.has(record_); }

bool Node::backs(const Uuid& claimant, uint64_t epoch) const {
  return record_.granted_to == claimant && record_.max_epoch == epoch;
}

void Node::vote_for(const Claim& claim, bool is_appointed) {
  const Uuid& id = claim.claimant;
  const Record vote = majority_->voter.vote_for(claim, record_);
  if (vote != record_) {
    if (is_leading()) stop_leading(Why::kGrantedNewer);
    record_ = vote;
    effects_.push_back(Persist{record_});
  }
  // A vote outlives a restart, and a claimant that was out of sight for a while.
  const auto* following = std::get_if<Following>(&role_);
  if (following == nullptr || following->leader != id || following->epoch != claim.epoch) {
    follow({id, claim.epoch, is_appointed, claim.score}, false);
    if (has_left_) return;  // it was this claim that a leaving leader waited for
  }
  grant_if_stored();
}

// Once in a life, and only if earlier ones had promised for longer.  Nothing waits for this write:
// what the disk has until then remembers the same vote, and the longer lease.  But it counts as the
// shorter one from now on, or a claim for the longer lease would take for stored what is about to
// be replaced.
void Node::forget_earlier_lives() {
  if (!majority_ || !has_vote() || !is_vote_stored()) return;
  const Record shorter = majority_->voter.without_earlier_lives(record_, now_);
  if (shorter == record_) return;
  record_ = shorter;
  majority_->disk.on_stored(record_);
  effects_.push_back(Persist{record_});
}

// Also when a promise that the claimant waits for is void: it is told at once.
void Node::grant_if_stored() {
  const Uuid id = record_.granted_to;
  const Member* claimant = members_.find(id);
  const bool is_asked = is_following(id) && claimant != nullptr && claimant->is_connected;
  if (has_vote() && is_vote_stored() && is_asked) send(id, majority_->voter.grant(record_, now_));
}

// The leader has said, or it is proven, that it leads no epoch up to this any more.
void Node::note_void(const Uuid& leader, uint64_t epoch) {
  if (!majority_) return;
  const bool is_news = majority_->voter.release(leader, epoch);
  if (auto* claiming = std::get_if<Claiming>(&role_)) {
    claiming->candidacy.release(leader, epoch);
    return take_if_safe();
  }
  if (is_candidate()) return;
  const auto* following = std::get_if<Following>(&role_);
  if (is_news && following != nullptr && !following->is_effective) grant_if_stored();
}

void Node::on_guarded_beat(Member& from, uint64_t epoch, const Heartbeat& beat) {
  const Uuid id = from.entry.id;
  if (!counts(from)) return effects_.push_back(Rejected{Unfit::kNoVoter, id});
  // Also of a leader that was followed while there was no vote to give.
  const bool is_free = epoch == record_.max_epoch && record_.granted_to == Uuid{};
  if ((epoch > record_.max_epoch || (is_free && beat.is_effective)) && has_vote()) {
    on_claim(from, epoch,
             {.is_appointed = beat.is_appointed,
              .is_planned = beat.is_planned,
              .sequence = beat.sequence,
              .terms = beat.terms,
              .score = beat.score},
             beat.is_effective);
    if (has_left_) return;
  }
  hear_leader(from, epoch, beat);
  if (has_left_) return;
  HeartbeatAck ack{.sequence = beat.sequence};
  const Claim again{.claimant = id, .epoch = epoch, .sequence = beat.sequence, .terms = beat.terms};
  if (majority_->slot && !is_vote_stored()) {
    majority_->voter.hear_again(again, record_);
  } else if (majority_->slot && majority_->voter.promise_again(again, record_, now_)) {
    ack.promised_epoch = epoch;
  }
  ack.view = members_.version();
  ack.is_electable = may_lead();
  send(id, ack);
  if (is_following(id)) correct_leader(id);
}

// The claimant that has this process's vote, or a leader that a majority has accepted.
void Node::hear_leader(const Member& from, uint64_t epoch, const Heartbeat& beat) {
  const Uuid& id = from.entry.id;
  auto* following = std::get_if<Following>(&role_);
  const bool is_same = following != nullptr && following->leader == id && following->epoch == epoch;
  if (!is_same && beat.is_effective) {
    if (is_leading()) stop_leading(Why::kYielded);
    if (epoch > record_.max_epoch) {
      record_ = {.max_epoch = epoch, .lease_seen = record_.lease_seen};
      // A voter that has lost its state keeps nothing until it has recalled what it may have
      // granted: after a restart it must be known that it has not.
      if (!majority_->voter.recall.is_lost()) effects_.push_back(Persist{record_});
    }
    follow({id, epoch, beat.is_appointed, beat.score});
  } else if (is_same && beat.is_effective && !following->is_effective) {
    following->is_effective = true;
    publish(Why::kAnnounced);
    tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_ANNOUNCED);
  }
  if (has_left_ || !is_following(id)) return;
  timers_.arm(Timer::kSuspicion, detector_.suspect_at(from.arrivals, now_));
  if (timers_.is_armed(Timer::kPlugin)) tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_HEARD);
}

}  // namespace bellwether
