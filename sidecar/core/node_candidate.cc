// Guard "majority", the candidate and the leader: canvass, own vote, claim, lease.
//
//   plugin claims ─ canvass ─ leader asked (node_takeover.cc) ─ own vote stored ─ COORDINATOR ─
//   grants of a majority ─ their promises to earlier leaders are over ─ leader, for as long as a
//   majority answers its heartbeats
//
// The election takes place early, while the old leader's lease still runs; only the flag waits.
#include <algorithm>

#include "base/check.hh"
#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// A voter that has granted a newer epoch refuses its leader for ever.  It may stand aside for
// this long, because a fresh claim costs the group its leader for a moment.
constexpr Duration kStuckFor = std::chrono::seconds(5);
constexpr int kStuckGapBeats = 5;  // from one refusal to the next, which each beat brings
constexpr Duration kMostPatience = std::chrono::seconds(10);

}  // namespace

size_t Node::reached_voters() const {
  Votes reached;
  for (const Member& member : members_.all()) {
    const bool is_self = member.entry.id == members_.self().id;
    if (member.slot && (is_self || member.is_there())) reached.add(*member.slot);
  }
  return reached.count();
}

void Node::canvass(Proposal proposal) {
  if (is_leading()) return claim_again();
  if (is_candidate()) return;
  majority_->begin_question();
  if (proposal.is_planned) return ask_or_claim(std::move(proposal));
  majority_->canvassing = std::move(proposal);
  majority_->opinions.ask(*majority_->slot);
  majority_->opinions.note(*majority_->slot, true);
  timers_.arm(Timer::kClaim, now_ + options_.answer_timeout + majority_->answer_patience);
  canvass_others(false);
  note_opinions();
}

// A leader that wins an election just leads on: a new epoch would only be a gap.  Its word ends the
// election of the others.
void Node::claim_again() {
  announce_again();
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_CLAIMED);
}

void Node::announce_again() {
  const auto& leading = std::get<Leading>(role_);
  announce({}, Coordinator{.is_appointed = leading.is_appointed,
                           .sequence = leading.sequence,
                           .terms = terms(),
                           .score = leading.score});
}

void Node::canvass_others(bool is_lost) {
  for (const Member& member : std::as_const(members_).all()) {
    const auto slot = member.slot;
    if (!slot || *slot == *majority_->slot || !member.is_connected) continue;
    majority_->opinions.ask(*slot);
    send(member.entry.id,
         Canvass{.number = majority_->number, .voters = majority_->hash, .is_lost = is_lost});
  }
}

void Node::on_canvass_reply(Member& from, const CanvassReply& reply) {
  if (reply.number != majority_->number) return;  // late
  const auto slot = from.slot;
  if (!slot) return;
  if (majority_->voter.recall.is_asking()) return on_recall_reply(*slot, reply);
  const Opinions before = majority_->opinions;
  majority_->opinions.note(*slot, reply.is_yes);
  if (majority_->canvassing) return note_opinions();
  if (!is_candidate()) note_late_opinion(before);
}

// The canvass is over.  If it is only decided now its answers take longer than the timer was made
// for, and the next one is given longer; and it is worth another try if it would end otherwise now.
void Node::note_late_opinion(const Opinions& before) {
  const size_t quorum = majority_->quorum();
  const bool is_supported = majority_->opinions.is_supported(quorum);
  if (before.is_supported(quorum)) return;
  const bool is_decided = is_supported || majority_->opinions.is_hopeless(quorum);
  if (is_decided && std::exchange(majority_->is_timed_out, false)) {
    Duration& patience = majority_->answer_patience;
    // The next one would be no longer; where nobody leads it is held all the same.
    if (patience == options_.coordinator_timeout && leader()) return;
    patience = std::min(2 * patience + options_.answer_timeout, options_.coordinator_timeout);
  }
  if (is_supported) hasten_retry();
}

void Node::hasten_retry() {
  const bool is_waiting = std::holds_alternative<Leaderless>(role_) &&
                          timers_.is_armed(Timer::kElect) && !timers_.is_armed(Timer::kPlugin);
  if (is_waiting) timers_.arm(Timer::kElect, now_);
  if (has_tried_to_preempt_ && should_preempt()) {
    timers_.arm(Timer::kPreempt, std::max({now_, preempts_again_at_, refused_until_}));
  }
}

void Node::note_opinions() {
  const Opinions& opinions = majority_->opinions;
  const bool is_supported = opinions.is_supported(majority_->quorum());
  if (!is_supported && !opinions.is_hopeless(majority_->quorum())) return;
  silence_ = Flapping{};
  if (is_supported) return ask_or_claim(std::move(*majority_->canvassing));
  give_up_claim("a majority would not grant the claim");
}

// Nothing of the claim leaves before the disk has it.
void Node::store_own_vote(Proposal proposal) {
  majority_->canvassing.reset();
  record_ =
      majority_->voter.vote_for_self(members_.self().id, next_epoch(), majority_->lease, record_);
  role_ = Claiming{.epoch = record_.max_epoch,
                   .candidacy = Candidacy(std::move(proposal)),
                   .score = members_.self().score};
  for (const Timer timer : {Timer::kJoin, Timer::kElect, Timer::kPreempt, Timer::kSuspicion}) {
    timers_.disarm(timer);
  }
  timers_.arm(Timer::kClaim, now_ + options_.coordinator_timeout);
  publish(Why::kClaims);
  effects_.push_back(Persist{record_});
}

void Node::on_own_vote_stored() {
  auto* claiming = std::get_if<Claiming>(&role_);
  if (claiming == nullptr || claiming->lease) return;
  const Electorate& electorate = majority_->electorate;
  claiming->lease.emplace(electorate.size(), electorate.quorum(), *majority_->slot,
                          majority_->lease);
  Voter& voter = majority_->voter;
  claiming->candidacy.note_grant(*majority_->slot, voter.promises(now_), voter.boot_until());
  claiming->sequence = 1;
  claiming->lease->sent(1, now_);
  timers_.arm(Timer::kHeartbeat, now_ + options_.heartbeat_interval);
  timers_.arm(Timer::kClaim, now_ + options_.coordinator_timeout + majority_->patience);
  const Proposal& proposal = claiming->candidacy.proposal();
  announce(proposal.silent, Coordinator{.is_appointed = proposal.is_appointed,
                                        .is_planned = proposal.is_planned,
                                        .sequence = claiming->sequence,
                                        .terms = terms(),
                                        .score = claiming->score});
  take_if_safe();
}

void Node::on_frame(Member& from, const Header&, const Grant& grant) {
  const auto slot = majority_ ? from.slot : std::nullopt;
  const bool is_ours = slot && lease() != nullptr && grant.epoch == record_.max_epoch;
  if (!is_ours) return effects_.push_back(Stale{FrameType::kGrant, from.entry.id});
  if (grant.is_granted) lease()->acknowledged(*slot, grant.sequence);
  auto* claiming = std::get_if<Claiming>(&role_);
  if (claiming == nullptr) return;  // the others' were enough
  Candidacy& candidacy = claiming->candidacy;
  if (!grant.is_granted) {
    candidacy.note_refusal(*slot);
    const bool is_hopeless =
        majority_->electorate.size() - candidacy.refusals() < majority_->quorum();
    if (is_hopeless) give_up_claim("a majority did not grant the claim");
    return;
  }
  Promises waits;
  for (const Wait& wait : grant.waits) {
    const Member* leader = members_.find(wait.leader);
    const bool is_void = leader != nullptr && leader->released >= wait.epoch;
    if (is_void || wait.leader == members_.self().id) continue;
    waits.make({.leader = wait.leader, .epoch = wait.epoch, .until = now_ + wait.left});
  }
  candidacy.note_grant(*slot, std::move(waits), now_ + grant.boot_wait);
  take_if_safe();
}

// While a lower one leads nothing else may bring it on; but those that have not answered never do,
// perhaps, so it is tried ever more rarely.
void Node::retry_take_over() {
  if (!should_preempt()) return;
  silence_.note(now_, now_, Duration::zero());
  has_tried_to_preempt_ = true;
  timers_.arm(Timer::kPreempt, std::max(now_ + options_.coordinator_timeout, silence_.over_at()));
}

void Node::on_claim_timer() {
  if (majority_->canvassing) {
    effects_.push_back(TimedOut{Awaited::kCanvass});
    majority_->is_timed_out = true;
    give_up_claim("no majority answered");
    return retry_take_over();
  }
  const auto* claiming = std::get_if<Claiming>(&role_);
  if (claiming == nullptr) return;
  // Another attempt would need another write.
  if (!claiming->lease) {
    return timers_.arm(Timer::kClaim, now_ + options_.coordinator_timeout);
  }
  if (claiming->candidacy.grants() >= majority_->quorum()) return take_if_safe();
  effects_.push_back(TimedOut{Awaited::kClaim});
  be_more_patient();
  give_up_claim("no majority granted the claim");
}

// Disks may be slower than the timers were made for: the next claim is given longer.
void Node::be_more_patient() {
  const Duration now_given = options_.coordinator_timeout + majority_->patience;
  majority_->patience = std::min(majority_->patience + now_given, kMostPatience);
}

// Leads if nothing stands against it any more, and waits for what does.
void Node::take_if_safe() {
  auto* claiming = std::get_if<Claiming>(&role_);
  if (claiming == nullptr || !claiming->lease) return;
  const Candidacy& candidacy = claiming->candidacy;
  if (candidacy.grants() < majority_->quorum()) return;
  const Instant until = claiming->lease->valid_until(now_);
  timers_.arm(Timer::kLease, std::max(until, now_));
  const bool is_free = candidacy.is_in_force(*majority_->slot, now_) &&
                       candidacy.grants_in_force(now_) >= majority_->quorum();
  if (!is_free) return timers_.arm(Timer::kClaim, candidacy.next_change(now_));
  if (until <= now_) return;  // expire_lease() gives it up
  majority_->answer_patience = majority_->patience = {};
  timers_.disarm(Timer::kClaim);
  role_ = Leading{.epoch = claiming->epoch,
                  .is_appointed = candidacy.proposal().is_appointed,
                  .sequence = claiming->sequence,
                  .score = claiming->score,
                  .right = ByPromises{*claiming->lease}};
  begin_reign();
  effects_.push_back(PersistMembers{members_.view()});
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_CLAIMED);
  if (is_leading()) beat();  // who has granted knows whom; now it knows that it leads
}

void Node::give_up_claim(const char* why) {
  remark(why);
  const bool has_claimed = is_claiming() && lease() != nullptr;
  note_lost_place();
  if (is_claiming()) role_ = Leaderless{};
  end_claim();
  if (has_claimed) send_to_connected(Resign{});
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_CLAIM_REFUSED);
}

// What a canvass, a claim or a reign leaves behind when it has ended.
void Node::end_claim() {
  asking_.reset();
  if (majority_) majority_->canvassing.reset();
  if (store_) end_bid();
  for (const Timer timer : {Timer::kClaim, Timer::kLease, Timer::kRenew, Timer::kHeartbeat}) {
    timers_.disarm(timer);
  }
}

// Before every input: a process that was stopped must not act as the leader it was.
void Node::expire_lease() {
  if (store_) {
    if (is_leading() && valid_until() <= now_) lose_lease(Why::kNotRenewed);
    return;
  }
  if (lease() == nullptr || lease()->valid_until(now_) > now_) return;
  const auto* claiming = std::get_if<Claiming>(&role_);
  if (is_leading()) {
    lose_lease(Why::kNoMajority);
  } else if (claiming != nullptr && claiming->candidacy.grants() >= majority_->quorum()) {
    give_up_claim("no majority answers any more");
  }
}

void Node::lose_lease(Why why) {
  effects_.push_back(TimedOut{Awaited::kLease});
  preemption_.on_leadership_lost(now_);
  abdicate(why);
  send_to_connected(Resign{});
  finish_handover();
}

void Node::note_promise(const Member& from, const HeartbeatAck& ack) {
  const auto slot = from.slot;
  if (lease() == nullptr || !slot) return;
  if (ack.refusal) return note_stuck_voter(from);
  if (ack.promised_epoch != record_.max_epoch) return;
  lease()->acknowledged(*slot, ack.sequence);
  const Instant until = lease()->valid_until(now_);
  if (is_claiming()) return take_if_safe();
  if (!is_leading() || until <= timers_.deadline(Timer::kLease)) return;
  timers_.arm(Timer::kLease, until);
  publish();
}

// It has granted the epoch of a claim that failed, and will never support this reign again.
void Node::note_stuck_voter(const Member& from) {
  auto* leading = std::get_if<Leading>(&role_);
  if (leading == nullptr || known_epoch() <= record_.max_epoch) return;
  auto& promises = std::get<ByPromises>(leading->right);
  const bool is_first = promises.stuck_since == kNever ||
                        now_ - promises.stuck_last > kStuckGapBeats * options_.heartbeat_interval;
  if (is_first) promises.stuck_since = now_;
  promises.stuck_last = now_;
  if (now_ - promises.stuck_since < kStuckFor) return;
  if (is_draining()) return hand_over_drained(DrainEnd::kCut);
  remark("claims anew for a voter that has granted a newer epoch", from.entry.id);
  abdicate(Why::kClaimsAnew);
  send_to_connected(Resign{});
  elect_reason_ = ELECTION_REASON_RETRY;
  timers_.arm(Timer::kElect, now_);
}

}  // namespace bellwether
