// Guard "majority", the voter: whom it grants an epoch, and what it promises.
//
// A vote is stored before anybody hears of it, an epoch is granted to one claimant only, and the
// epochs granted only rise.  A promise to a leader lasts for its lease, from the receipt of its
// heartbeat on; a grant to another one lists the promises that still run, so that the claimant
// waits for them.
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

bool Node::has_vote() const {
  return majority_->slot && !majority_->is_lost && !majority_->is_store_broken;
}

void Node::on_frame(Member& from, const Header&, const Canvass& canvass) {
  if (!majority_ || canvass.voters != majority_->hash || !majority_->slot) {
    return effects_.push_back(Rejected{Unfit::kOtherVoters, from.entry.id});
  }
  CanvassReply reply{.number = canvass.number, .is_lost = majority_->is_lost || known_epoch() == 0};
  if (!canvass.is_lost) {
    const auto slot = from.slot;
    reply.is_yes = has_vote() && slot && !is_storing_claim() && supports(from, false);
    if (!reply.is_yes) reply.leader = leader();
    if (slot) majority_->turned_down[*slot] = reply.is_yes ? 0 : canvass.number;
  }
  send(from.entry.id, reply);
}

// Its own claim goes out as soon as the disk has it, and would meet the other one.
bool Node::is_storing_claim() const {
  return majority_->candidacy && majority_->candidacy->stage() == Candidacy::Stage::kStore;
}

// No two notice at the same instant that their leader is gone.  Who did so first, and was told no,
// need not wait until it tries again.
void Node::change_opinions() {
  for (const Member& member : std::as_const(members_).all()) {
    const auto slot = member.slot;
    if (!slot) continue;
    const uint64_t number = std::exchange(majority_->turned_down[*slot], 0);
    if (number == 0 || !member.is_connected || !has_vote() || !supports(member, false)) continue;
    send(member.entry.id, CanvassReply{.number = number, .is_yes = true});
  }
}

// Who hears a leader stays with it, unless it is outranked and may be preempted; or the leader
// itself wants it so.  Safety does not need this: it keeps one with a broken link from disturbing
// all.
bool Node::supports(const Member& claimant, bool is_planned) const {
  if (is_planned || is_broken(Rule::kSticky)) return true;
  const auto current = leader();
  if (!current || current->id == claimant.entry.id) return true;
  if (current->is_appointed) return false;
  const bool is_self = current->id == members_.self().id;
  const Member* leading = members_.find(current->id);
  if (leading == nullptr) return true;
  if (!is_self && leading->entry.liveness != Liveness::kAlive) return true;
  return preemption_.allows(claimant.entry.rank(), leading->entry.rank());
}

Node::Objection Node::objection_to(const Member& claimant, uint64_t epoch, const Terms& terms,
                                   bool is_effective, bool is_supported) const {
  if (terms.voters != majority_->hash || !claimant.slot) return Objection::kOtherVoters;
  if (!is_lawful_lease(terms.lease)) return Objection::kLease;
  if (majority_->is_lost) return Objection::kLost;
  if (majority_->is_store_broken) return Objection::kStore;
  if (epoch < record_.max_epoch) return Objection::kStale;
  if (epoch == record_.max_epoch) {
    // What this voter had granted in it, it has forgotten.  But a majority has granted it to this
    // leader, so nobody else can lead it any more.
    const bool is_late = is_effective && record_.granted_to == Uuid{};
    const bool is_granted = record_.granted_to == claimant.entry.id || is_broken(Rule::kVoteOnce);
    return is_granted || is_late ? Objection::kNone : Objection::kStale;
  }
  return is_supported ? Objection::kNone : Objection::kLeader;
}

// A COORDINATOR, or a heartbeat of an epoch that is new here.
void Node::on_claim(Member& claimant, uint64_t epoch, const Coordinator& coordinator,
                    bool is_effective) {
  const Uuid id = claimant.entry.id;
  claimant.claimed_epoch = std::max(claimant.claimed_epoch, epoch);
  raise_epoch(epoch);
  const auto* following = std::get_if<Following>(&role_);
  const bool is_known = following != nullptr && following->is_effective &&
                        following->leader == id && following->epoch == epoch;
  if (is_known) end_needless_election();
  // Without a vote it follows when the claim is effective.
  if (!majority_->slot || (is_known && backs(id, epoch))) return;
  // Whom a majority has accepted already is not for this voter to keep out.
  const bool is_supported = is_effective || supports(claimant, coordinator.is_planned);
  const Objection objection =
      objection_to(claimant, epoch, coordinator.terms, is_effective, is_supported);
  if (objection == Objection::kNone) return vote_for(claimant, epoch, coordinator);
  if (is_known) return;
  remark(text_of(objection), id);
  send(id, Grant{.epoch = epoch, .leader = leader()});
}

const char* Node::text_of(Objection objection) {
  switch (objection) {
    case Objection::kNone:
      return "no objection";
    case Objection::kOtherVoters:
      return "no vote for it: its [voters] are not this node's";
    case Objection::kLease:
      return "no vote for it: its lease is too short, or too long";
    case Objection::kLost:
      return "no vote for it: this voter has lost its state";
    case Objection::kStore:
      return "no vote for it: this voter cannot store one";
    case Objection::kStale:
      return "no vote for it: its epoch is over, or granted to another";
    case Objection::kLeader:
      return "no vote for it: there is a leader";
  }
  return "?";
}

bool Node::backs(const Uuid& claimant, uint64_t epoch) const {
  return record_.granted_to == claimant && record_.max_epoch == epoch;
}

void Node::vote_for(const Member& claimant, uint64_t epoch, const Coordinator& coordinator) {
  const Uuid id = claimant.entry.id;
  majority_->vote_terms = coordinator.terms;
  majority_->vote_sequence = coordinator.sequence;
  // Also when only the lease is longer than any before: a restarted voter reports how long what it
  // promised may still run.
  const Record vote{.max_epoch = epoch,
                    .granted_to = id,
                    .lease_seen = std::max(record_.lease_seen, coordinator.terms.lease)};
  if (vote != record_) {
    if (is_leading()) stop_leading(Why::kGrantedNewer);
    record_ = vote;
    effects_.push_back(Store{record_});
  }
  // A vote outlives a restart, and a claimant that was out of sight for a while.
  const auto* following = std::get_if<Following>(&role_);
  if (following == nullptr || following->leader != id || following->epoch != epoch) {
    follow({.id = id, .epoch = epoch, .is_appointed = coordinator.is_appointed}, false);
    if (has_left_) return;  // it was this claim that a leaving leader waited for
  }
  grant_if_stored();
}

// Also when a promise that the claimant waits for is void: it is told at once.
void Node::grant_if_stored() {
  const bool is_stored = record_ == majority_->durable || is_broken(Rule::kStoreBeforeGrant);
  const Uuid id = record_.granted_to;
  const Member* claimant = members_.find(id);
  const bool is_asked = is_following(id) && claimant != nullptr && claimant->is_connected;
  if (!has_vote() || !is_stored || !is_asked) return;
  Grant grant{.epoch = record_.max_epoch, .is_granted = true};
  majority_->promises.expire(now_);
  for (const Promise& made : majority_->promises.all()) {
    if (made.leader != id) grant.waits.push_back({made.leader, made.epoch, made.until - now_});
  }
  grant.boot_wait = std::max(majority_->boot_until - now_, Duration::zero());
  // The promise counts from the receipt of the frame, and later is as good.
  const bool is_promised = promise(id, record_.max_epoch, majority_->vote_terms);
  if (is_promised) grant.sequence = majority_->vote_sequence;
  send(id, grant);
}

// False when there are too many promises already.
bool Node::promise(const Uuid& leader, uint64_t epoch, const Terms& terms) {
  Duration lease = is_broken(Rule::kFrameLease) ? majority_->lease : terms.lease;
  // As if the clock had been read a beat before.
  if (is_broken(Rule::kFreshPromise)) lease -= options_.heartbeat_interval;
  majority_->promises.expire(now_);
  return majority_->promises.make({.leader = leader, .epoch = epoch, .until = now_ + lease});
}

// The leader has said, or it is proven, that it leads no epoch up to this any more.
void Node::note_void(const Uuid& leader, uint64_t epoch) {
  const uint64_t up_to = is_broken(Rule::kReleaseNamesEpoch) ? UINT64_MAX : epoch;
  const bool is_news = majority_->promises.release(leader, up_to);
  if (majority_->candidacy) {
    majority_->candidacy->release(leader, up_to);
    return take_if_safe();
  }
  const auto* following = std::get_if<Following>(&role_);
  if (is_news && following != nullptr && !following->is_effective) grant_if_stored();
}

void Node::on_guarded_beat(Member& from, uint64_t epoch, const Heartbeat& beat) {
  const Uuid id = from.entry.id;
  from.claimed_epoch = std::max(from.claimed_epoch, epoch);
  raise_epoch(epoch);
  // Also of a leader that was followed while there was no vote to give.
  const bool is_free = epoch == record_.max_epoch && record_.granted_to == Uuid{};
  if ((epoch > record_.max_epoch || (is_free && beat.is_effective)) && has_vote()) {
    on_claim(from, epoch,
             {.is_appointed = beat.is_appointed,
              .is_planned = beat.is_planned,
              .sequence = beat.sequence,
              .terms = beat.terms},
             beat.is_effective);
    if (has_left_) return;
  }
  HeartbeatAck ack{.sequence = beat.sequence};
  if (epoch < record_.max_epoch) {
    ack.refusal = Refusal{epoch, leader()};
    effects_.push_back(Stale{FrameType::kHeartbeat, id});
  } else {
    hear_leader(from, epoch, beat);
    if (has_left_) return;
    const bool is_stored = record_ == majority_->durable || is_broken(Rule::kStoreBeforeGrant);
    const bool is_same_lease = majority_->vote_terms.lease == beat.terms.lease;
    if (has_vote() && backs(id, epoch) && is_stored && is_lawful_lease(beat.terms.lease) &&
        (is_same_lease || is_restored(beat.terms)) && promise(id, epoch, beat.terms)) {
      majority_->vote_sequence = beat.sequence;
      ack.promised_epoch = epoch;
    }
  }
  ack.view = members_.version();
  ack.is_electable = may_lead();
  send(id, ack);
  if (is_following(id)) correct_leader(id);
}

// A voter that was restarted has its vote from the disk, and the terms from the next heartbeat.
bool Node::is_restored(const Terms& terms) {
  const bool is_first = majority_->vote_terms.lease == Duration::zero();
  if (!is_first || terms.voters != majority_->hash || terms.lease > record_.lease_seen)
    return false;
  majority_->vote_terms = terms;
  return true;
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
      if (!majority_->is_lost) effects_.push_back(Store{record_});
    }
    follow({.id = id, .epoch = epoch, .is_appointed = beat.is_appointed});
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
