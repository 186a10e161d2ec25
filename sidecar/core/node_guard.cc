// Where the guards differ: what the node asks, and what each guard answers, so a further one is a
// further answer to each of these, and files of its own.  Elsewhere a single line asks which guard
// there is, where it is the one exception in a step that all of them take (links, beats, releases,
// departures, the end of a claim); those lines name majority_ or store_, too.
//
// The answers are functions of the node, not of a class for each guard: a claim, a vote and a lease
// change what all guards share (role, epoch, timers, the order of the effects), and a guard apart
// would have to call most of the node back.
#include <algorithm>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

// --- start and disk ---

void Node::start_guard(const Start& start) {
  if (!majority_) return;
  majority_->voter.start(now_, record_);
  // Meanwhile another one can lead sooner.
  const bool is_alone = majority_->electorate.size() == 1;
  const Instant boot_until = majority_->voter.boot_until();
  if (boot_until > now_ && !is_alone) {
    timers_.arm(Timer::kHold, boot_until);
    update_electable();
  }
  if (start.is_state_lost && majority_->slot) begin_recall(start.is_first_start);
}

void Node::on_guard_timer(Timer timer) {
  switch (timer) {
    case Timer::kClaim:
      if (asking_) return on_asking_timer();
      return store_ ? on_bid_timer() : on_claim_timer();
    case Timer::kRecall:
      return recall();
    case Timer::kStore:
      return on_store_timer();
    default:
      return renew();
  }
}

// Under guard "none" nothing waits for the disk; what is lost is the memory of old epochs.
void Node::on(const Persisted& stored) {
  if (!stored.is_ok) remark("the state could not be stored");
  if (store_) return on_kept(stored);
  if (!majority_) return;
  const bool was_broken = majority_->voter.set_store_broken(!stored.is_ok);
  if (!stored.is_ok) {
    update_electable();
    if (seeks_to_lead()) {
      tell_unkept_claim();
      give_up_claim("its vote could not be stored");
    }
    return;
  }
  DiskWatch& disk = majority_->disk;
  const bool was_stored = disk.has(record_);
  if (!was_stored) disk.on_stored(stored.record);
  if (was_broken) {
    update_electable();
    change_opinions();
  }
  if (!disk.has(record_)) return;         // a later one is on its way
  if (was_stored && !was_broken) return;  // nobody waits for it
  if (is_candidate()) return on_own_vote_stored();
  grant_if_stored();
}

// Others wait for the one that may lead.  While its disk stands still they need not.
void Node::watch_disk() {
  if (!majority_ && !store_) return;
  DiskWatch& disk = majority_ ? majority_->disk : store_->disk;
  // A voter that has forgotten asks nothing of its disk.
  const bool is_lost = majority_ && majority_->voter.recall.is_lost();
  const Record& wanted = is_lost ? disk.stored() : record_;
  Duration patience = 2 * options_.coordinator_timeout;
  if (store_) patience = std::min(patience, validity_of(store_->lease));
  if (!disk.look(wanted, now_, patience)) return;
  remark(disk.is_late() ? "its disk does not answer" : "its disk answers again");
  update_electable();
  if (!disk.is_late()) return;
  tell_unkept_claim();
  // It could not lead when its turn comes.
  if (seeks_to_lead() && !is_claiming()) give_up_claim("its disk does not answer");
}

// It may follow nobody who leads an earlier epoch than the one that it wanted to claim, and that it
// has told to nobody, for its disk has not got it: whoever leads has to hear that there is one.
void Node::tell_unkept_claim() {
  const bool is_unkept = majority_ && is_claiming() && lease() == nullptr;
  if (is_unkept) raise_epoch(record_.max_epoch);
}

// --- may this node lead? ---

Obstacle Node::guard_obstacle() const {
  if (store_ && !store_->has_disk()) return Obstacle::kNoDisk;
  if (store_ && store_->has_twin) return Obstacle::kTwin;
  if (store_ && store_->is_away) return Obstacle::kNoStore;
  return majority_ ? majority_->obstacle(reached_voters()) : Obstacle::kNone;
}

bool Node::is_boot_wait() const {
  return majority_ && timers_.deadline(Timer::kHold) == majority_->voter.boot_until();
}

bool Node::is_disk_wait() const {
  return store_ && timers_.deadline(Timer::kHold) == store_->late_disk.over_at();
}

// Whether the member can lead, and its word on who leads is worth anything.
bool Node::counts(const Member& member) const { return !majority_ || member.slot; }
bool Node::counts(const Member* member) const {
  return !majority_ || (member != nullptr && member->slot);
}

void Node::note_distance(const std::string& name, Instant shut_out_until) {
  if (majority_ && majority_->electorate.slot_of(name)) majority_->shut_out_until = shut_out_until;
}

Vote Node::vote(Instant now) const {
  return majority_ ? majority_->vote(now, leader().has_value()) : Vote::kNone;
}

// --- claims ---

void Node::begin_claim(Proposal proposal) {
  if (store_) return bid(std::move(proposal));
  if (asking_) return ask_again(std::move(proposal));
  majority_ ? canvass(std::move(proposal)) : ask_or_claim(std::move(proposal));
}

// There is nobody left to ask.  Not under a guard on a store, where the record says when.
void Node::claim_now(Proposal proposal) {
  majority_ ? store_own_vote(std::move(proposal)) : lead_at_once(proposal);
}

Terms Node::terms() const { return majority_ ? majority_->terms() : Terms{}; }
uint64_t Node::guard_hash() const {
  if (store_) return store_->hash;
  return majority_ ? majority_->hash : 0;
}

// Whether a claim is effective because it is announced, so that what others say of leaders decides
// who leads.  Otherwise votes and leases do, or the store.
bool Node::do_words_decide() const { return !majority_ && !store_; }

void Node::on_frame(Member& from, const Header& header, const Coordinator& frame) {
  if (majority_) return on_claim(from, header.epoch, frame);
  const bool is_accepted =
      accept_leader(from, {from.entry.id, header.epoch, frame.is_appointed, frame.score});
  if (!is_accepted) return refuse_claim(from, header.epoch, frame);
  // One that leads on says so to those that hold an election.
  end_needless_election();
}

// By its own word; an epoch that is not over.
bool Node::accept_leader(Member& from, const LeaderHint& claim) {
  return store_ ? accept_reign(from, claim) : accept_claim(from, claim);
}

void Node::on_frame(Member& from, const Header& header, const Heartbeat& beat) {
  majority_ ? on_guarded_beat(from, header.epoch, beat)
            : on_announced_beat(from, header.epoch, beat);
  auto* following = std::get_if<Following>(&role_);
  if (following == nullptr || following->leader != from.entry.id) return;
  if (following->epoch == header.epoch) following->is_draining = beat.is_draining;
}

void Node::on_frame(Member& from, const Header&, const Canvass& canvass) {
  // There is nothing else to ask for where words decide.
  const bool is_of_use = canvass.is_take_over || !do_words_decide();
  if (canvass.voters != guard_hash() || !is_of_use) {
    return effects_.push_back(Rejected{Unfit::kOtherVoters, from.entry.id});
  }
  if (canvass.is_take_over && !store_) return on_take_over(from, canvass);
  store_ ? on_bid(from, canvass) : on_canvass(from, canvass);
}

void Node::on_frame(Member& from, const Header&, const CanvassReply& reply) {
  if (store_) return on_bid_reply(from, reply);
  const bool is_of_leader = asking_ && is_following(from.entry.id);
  if (is_of_leader && reply.number == asking_->number) return on_place_reply(reply);
  if (majority_) return on_canvass_reply(from, reply);
  // Whoever was asked may have claimed anew since, and the question have been an old one.
  if (reply.leader) consider(*reply.leader, from.entry.id);
}

// Of an epoch that is over.  A voter may have more to say against it.
void Node::refuse_claim(Member& claimant, uint64_t epoch, const Coordinator& claim) {
  if (majority_) return on_claim(claimant, epoch, claim);
  effects_.push_back(Stale{FrameType::kCoordinator, claimant.entry.id});
  send(claimant.entry.id, Refusal{epoch, leader()});
}

void Node::note_support(Member& from, const HeartbeatAck& ack) {
  if (majority_) return note_promise(from, ack);
  if (ack.refusal) on_refusal(from.entry.id, *ack.refusal);
}

// --- epochs ---

// There was a claim of this epoch.  A voter stores it with its vote; where a store decides, whoever
// follows it does.
void Node::raise_epoch(uint64_t epoch) {
  if (!do_words_decide()) {
    heard_epoch_ = std::max(heard_epoch_, epoch);
    return;
  }
  if (epoch <= record_.max_epoch) return;
  record_.max_epoch = epoch;
  effects_.push_back(Persist{record_});
}

// The highest epoch that a crash cannot take back, as far as that matters.
uint64_t Node::kept_epoch() const {
  if (store_) return store_->disk.stored().max_epoch;
  return majority_ ? majority_->disk.stored().max_epoch : record_.max_epoch;
}

// --- a leader ---

// Under guard "none" the shortest silence after which a peer may give this process up, from the
// last beat on: one that hangs loses its flag before anybody elects for that reason.
Instant Node::valid_until() const {
  if (store_) {
    const auto* leading = std::get_if<Leading>(&role_);
    return leading != nullptr ? std::get<ByRecord>(leading->right).until : now_;
  }
  if (!majority_) return now_ + options_.suspect_after_min;
  return lease() != nullptr ? lease()->valid_until(now_) : now_;
}

// Whether it leads on while its successor is asked to claim: so if nobody can lead beside it.
bool Node::leads_until_succeeded() const { return majority_.has_value(); }

// The successor is to hear of it; where a store decides, the record says so first.
void Node::ask_successor() { store_ ? begin_giving() : try_next_successor(); }

void Node::on_handover_timer() { store_ ? give_to_next() : try_next_successor(); }

// --- a leader that leads no longer, by its own word or by proof ---

void Node::note_released(const Member& member) {
  store_ ? pursue_bid() : note_void(member.entry.id, member.released);
}

// The process is dead, and leads none of the epochs that it has claimed.  That says nothing of its
// next life, which takes others.
void Node::note_proof(const Member& gone) {
  if (!counts(gone)) return;
  if (!store_) return note_void(gone.entry.id, gone.claimed_epoch);
  store_->ended.add(gone.linked_boot);
  pursue_bid();
}

}  // namespace bellwether
