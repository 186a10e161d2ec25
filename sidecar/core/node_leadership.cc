// Who leads: following, claiming, leading, losing.  Under guard "none" epochs change in here only.
//
// An epoch is constant from a leader's claim to its death, resignation or step-down; every claim
// takes a higher one.  When two leaders meet (guard "none" cannot exclude it), the higher epoch
// wins; of equal epochs the higher rank claims anew and the other yields.
#include <algorithm>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// `role` is const, or not, and so is the lease.
template <typename AnyRole>
auto lease_in(AnyRole& role) -> decltype(&*std::get<Claiming>(role).lease) {
  auto* claiming = std::get_if<Claiming>(&role);
  if (claiming != nullptr && claiming->lease) return &*claiming->lease;
  auto* leading = std::get_if<Leading>(&role);
  auto* promises = leading != nullptr ? std::get_if<ByPromises>(&leading->right) : nullptr;
  return promises != nullptr ? &promises->lease : nullptr;
}

}  // namespace

// A COORDINATOR, or a heartbeat, which says the same to those who missed it; or the word of a
// follower.  Its epoch is not over.
bool Node::accept_claim(Member& claimant, const LeaderHint& claim) {
  const auto current = leader();
  if (current && current->id == claim.id && current->epoch == claim.epoch) return true;
  if (claimant.released >= claim.epoch) return false;  // taken back
  if (current && current->epoch == claim.epoch) {
    const auto held = rank_of(*current);
    if (held && *rank_of(claim) < *held) {
      if (is_leading()) on_rival(claim, true);
      return false;
    }
  }
  follow(claim);
  return true;
}

// With which it was made: a score that changes during a reign must not make another one of two
// claims the better one.  Nothing, of a claimant that is not known here.
std::optional<Rank> Node::rank_of(const LeaderHint& claim) const {
  const Member* claimant = members_.find(claim.id);
  if (claimant == nullptr) return std::nullopt;
  return Rank{.priority = claimant->entry.priority, .score = claim.score, .id = claim.id};
}

// Somebody says who leads.
void Node::consider(const LeaderHint& hint, const Uuid& from) {
  // An older one is over; a newer one than its frame's epoch, which is known by now, cannot be.
  if (is_over(hint.epoch) || (do_words_decide() && hint.epoch > record_.max_epoch)) return;
  if (hint.id == members_.self().id) return confirm_own_leadership(hint.epoch);
  const bool is_joining = std::holds_alternative<Joining>(role_);
  if (is_joining && !options_.query_first) return;
  Member* member = members_.find(hint.id);
  // Only voters lead, and nobody waits for one by another's word.
  if (!counts(member) || !counts(members_.find(from))) return;
  const bool is_over = member != nullptr && member->released >= hint.epoch;
  if (is_joining && !is_over) expects_leader_ = true;
  if (member == nullptr || is_over) return;
  const bool can_hear = member->is_connected && member->entry.liveness == Liveness::kAlive;
  if (do_words_decide()) {
    if (is_leading()) return on_rival(hint, can_hear);
    if (can_hear) {
      // The leader's own word is as good as its COORDINATOR; so is hearsay of one that we can hear.
      if (accept_claim(*member, hint)) end_needless_election();
      return;
    }
  } else {
    if (is_leading() || is_claiming()) return;
    if (can_hear && is_following(hint.id)) return end_needless_election();
  }
  // Others hear a leader that this process does not: a new election would only disturb them.  If
  // the leader is dead they will notice soon, and the next in line of them elects.
  const bool is_to_be_heard = from != hint.id || can_hear;
  if (is_to_be_heard && std::holds_alternative<Leaderless>(role_)) wait_for_leader(hint.id);
}

void Node::confirm_own_leadership(uint64_t epoch) {
  const auto* leading = std::get_if<Leading>(&role_);
  if (leading != nullptr && leading->epoch == epoch) end_needless_election();
}

// A member that was asked says that the leader this process knows, or is, is there.
void Node::end_needless_election() {
  if (!timers_.is_armed(Timer::kPlugin)) return;
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_ANNOUNCED);
}

// There was a claim that this process has not seen.
void Node::on_newer_epoch(uint64_t epoch, const std::optional<LeaderHint>& hint) {
  raise_epoch(epoch);
  const auto* leading = std::get_if<Leading>(&role_);
  if (!do_words_decide() || leading == nullptr) return;
  const bool has_successor = hint && hint->epoch == epoch && hint->id != members_.self().id;
  // Without one the claimant is gone, and the claim is announced anew above it.
  if (!has_successor) return claim({}, leading->is_appointed);
  yield_to(*hint);
}

// A member does not follow.  If it knows of no better leader, its memory holds something that
// stands against this epoch (it was claimed before, and forgotten): a fresh one helps.
void Node::on_refusal(const Uuid& from, const Refusal& refusal) {
  if (refusal.leader) return consider(*refusal.leader, from);
  const auto* leading = std::get_if<Leading>(&role_);
  const bool is_current = leading != nullptr && leading->epoch == refusal.refused_epoch;
  if (is_current && do_words_decide()) claim({}, leading->is_appointed);
}

// Two leaders of one epoch: the higher rank claims anew, the other yields.
void Node::on_rival(const LeaderHint& rival, bool can_hear) {
  if (*rank_of(rival) < *rank_of(*leader())) {
    return claim({}, std::get<Leading>(role_).is_appointed);
  }
  if (can_hear) return follow(rival);
  yield_to(rival);
}

void Node::yield_to(const LeaderHint& leader) {
  preemption_.on_leadership_lost(now_);
  stop_leading(Why::kYielded);
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_STEPPED_DOWN);
  wait_for_leader(leader.id);
  finish_handover();
}

// Somebody leads, but this process does not hear it yet.
void Node::wait_for_leader(const Uuid& id) {
  remark("others hear a leader", id);
  tell_plugin(ELECTION_EVENT_STAND_DOWN, ELECTION_REASON_LEADER_EXISTS);
  elect_reason_ = ELECTION_REASON_RETRY;
  timers_.arm(Timer::kElect, now_ + backoff_.next(now_));
}

void Node::follow(const LeaderHint& leader, bool is_effective) {
  note_lost_place();
  end_drain(DrainEnd::kCut);
  role_ = Following{leader.id, leader.epoch, leader.is_appointed, is_effective, leader.score};
  publish(is_effective ? Why::kAnnounced : Why::kGranted);
  raise_epoch(leader.epoch);
  end_claim();
  for (const Timer timer : {Timer::kJoin, Timer::kElect, Timer::kHeartbeat, Timer::kPreempt}) {
    // A textbook process goes on to its election after the join; see finish_join().
    if (timer != Timer::kJoin || options_.query_first) timers_.disarm(timer);
  }
  has_tried_to_preempt_ = false;
  refused_until_ = Instant{};
  declined_.clear();
  // What is known so far is the list of another leader, perhaps of one with the same epoch.
  members_.expect_new_list();
  Member* member = members_.find(leader.id);
  member->arrivals.restart(now_);
  timers_.arm(Timer::kSuspicion, detector_.suspect_at(member->arrivals, now_));
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_ANNOUNCED);
  arm_preemption();
  finish_handover();
}

void Node::claim(std::span<const election_id> silent, bool is_appointed, bool is_planned) {
  // What it would have to claim anew it gives away instead.
  if (is_draining()) return hand_over_drained(DrainEnd::kCut);
  if (!may_lead()) return tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_CLAIM_REFUSED);
  Proposal proposal{.is_planned = is_planned, .is_appointed = is_appointed};
  for (const election_id& id : silent) proposal.silent.push_back(to_uuid(id));
  begin_claim(std::move(proposal));
}

// Guard "none": it has won the place that it has.  In the papers each election makes a new leader;
// but a new epoch would cut off what an application has begun that is to be asked to finish.
// Whoever does not take this epoch refuses it, and then there is a new one.
bool Node::leads_on() const {
  return do_words_decide() && is_leading() && is_to_finish() && leader()->epoch == known_epoch();
}

// The papers' rule.
void Node::lead_at_once(const Proposal& proposal) {
  const uint64_t epoch = next_epoch();
  raise_epoch(epoch);
  lead({.epoch = epoch,
        .is_appointed = proposal.is_appointed,
        .sequence = 1,
        .score = members_.self().score},
       proposal);
}

void Node::lead(Leading role, const Proposal& proposal) {
  const int64_t score = role.score;
  role_ = std::move(role);
  timers_.arm(Timer::kHeartbeat, now_ + options_.heartbeat_interval);
  begin_reign();
  announce(proposal.silent, Coordinator{.is_appointed = proposal.is_appointed, .score = score});
  // Its number is new, and nothing else may ever change.
  effects_.push_back(PersistMembers{members_.view()});
  tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_CLAIMED);
}

// A group that knows no epoch begins at the seed.
uint64_t Node::next_epoch() const {
  return (known_epoch() == 0 ? options_.epoch_seed : known_epoch()) + 1;
}

bool Node::is_following(const Uuid& id) const {
  const auto* following = std::get_if<Following>(&role_);
  return following != nullptr && following->leader == id;
}

// The claim is effective from now on.
void Node::begin_reign() {
  members_.begin_view(record_.max_epoch);
  declined_.clear();
  for (const Timer timer : {Timer::kJoin, Timer::kElect, Timer::kPreempt, Timer::kSuspicion}) {
    timers_.disarm(timer);
  }
  publish(Why::kClaimed);
  for (Member& member : members_.all()) member.arrivals.restart(now_);
}

// To all that live, but not to those that were asked and kept silent: a heartbeat tells those who
// were only slow.
void Node::announce(const std::vector<Uuid>& silent, const Coordinator& coordinator) {
  for (const Member& member : std::as_const(members_).all()) {
    const MemberEntry& entry = member.entry;
    if (entry.id == members_.self().id || entry.liveness != Liveness::kAlive) continue;
    const bool is_silent = std::find(silent.begin(), silent.end(), entry.id) != silent.end();
    if (!is_silent) send(entry.id, coordinator);
  }
}

// If it is (still) the one that this process follows.
void Node::lose_leader(const Uuid& id, uint32_t reason) {
  if (!is_following(id)) return;
  end_asking();
  role_ = Leaderless{};
  timers_.disarm(Timer::kSuspicion);
  timers_.disarm(Timer::kPreempt);
  publish(reason == ELECTION_REASON_RESIGNED ? Why::kLeaderResigned : Why::kLeaderLost);
  change_opinions();
  tell_plugin(ELECTION_EVENT_LEADER, reason);
  schedule_election(reason);
}

// The flag goes off here, before anything that the caller sends.
void Node::stop_leading(Why why) {
  // A guard may have given the reign another epoch while it drained.
  if (handover_ && is_leading()) handover_->epoch = leader()->epoch;
  end_drain(DrainEnd::kCut);
  role_ = Leaderless{};
  timers_.disarm(Timer::kHeartbeat);
  end_claim();
  publish(why);
}

// The next in line starts at once; the others wait to see its COORDINATOR, each a little longer
// than the one above it.
void Node::schedule_election(uint32_t reason) {
  if (!may_lead()) return;
  Duration wait{};
  if (options_.stagger) {
    const auto ahead = static_cast<Duration::rep>(members_.living_candidates_above_self());
    wait = std::min(ahead * options_.answer_timeout, options_.coordinator_timeout);
  }
  elect_reason_ = reason;
  timers_.arm(Timer::kElect, now_ + wait);
}

// Somebody else has the place that this process had, or had taken from a leader.
void Node::note_lost_place() {
  const auto* claiming = std::get_if<Claiming>(&role_);
  const bool has_taken = claiming != nullptr && claiming->candidacy.proposal().is_take_over;
  if (has_taken || (is_leading() && !handover_)) preemption_.on_leadership_lost(now_);
}

// Scores may change at any time, and not each change is worth an election.
void Node::arm_preemption() {
  if (timers_.is_armed(Timer::kPreempt) || has_tried_to_preempt_ || !should_preempt()) return;
  timers_.arm(Timer::kPreempt, std::max({now_ + preemption_.delay(now_), preempts_again_at_,
                                         refused_until_, silence_.over_at()}));
}

// Something has changed since it was tried.
void Node::preempt_anew() {
  if (has_tried_to_preempt_) timers_.disarm(Timer::kPreempt);  // as retry_take_over() has it
  has_tried_to_preempt_ = false;
  arm_preemption();
}

// Only the highest candidate takes over, and nobody from a leader that an operator named.
bool Node::should_preempt() const {
  const auto* following = std::get_if<Following>(&role_);
  if (following == nullptr || following->is_appointed || asking_ || !may_lead()) return false;
  const Member* leader = members_.find(following->leader);
  if (leader == nullptr || !preemption_.allows(members_.self().rank(), leader->entry.rank())) {
    return false;
  }
  return members_.living_candidates_above_self() == 0;
}

// A node that reaches too few voters says so when asked in an election: it would win and then wait
// for ever, and block everybody below.
Obstacle Node::obstacle() const {
  if (members_.self().priority == 0) return Obstacle::kPriorityZero;
  const Obstacle of_guard = guard_obstacle();
  if (of_guard == Obstacle::kNoVoter) return of_guard;
  if (!application_.is_able()) return Obstacle::kNoApplication;
  if (timers_.is_armed(Timer::kHold)) {
    if (is_disk_wait()) return Obstacle::kNoDisk;
    return is_boot_wait() ? Obstacle::kBootWait : Obstacle::kHold;
  }
  if (handover_) return Obstacle::kHandingOver;
  return is_leaving_ ? Obstacle::kLeaving : of_guard;
}

// A take-over waits for steady contact with a majority: what interrupts it begins the wait anew.
void Node::update_electable() {
  const bool may_lead_now = may_lead();
  const bool is_news = may_lead_now != members_.self().is_electable;
  members_.set_self_electable(may_lead_now);
  if (!is_news) return;
  may_lead_now ? preempt_anew() : timers_.disarm(Timer::kPreempt);
}

void Node::publish(std::optional<Why> why) {
  const auto current = leader();
  const auto* following = std::get_if<Following>(&role_);
  Publish publish{.is_leader = is_leading(), .why = why, .is_draining = drain() != nullptr};
  if (current && (following == nullptr || following->is_effective)) {
    publish.epoch = current->epoch;
    publish.leader = current->id;
  }
  publish.valid_until = publish.is_leader ? valid_until() : now_;
  effects_.push_back(publish);
}

const Lease* Node::lease() const { return lease_in(role_); }
Lease* Node::lease() { return lease_in(role_); }

uint64_t Node::sequence() const {
  if (const auto* leading = std::get_if<Leading>(&role_)) return leading->sequence;
  const auto* claiming = std::get_if<Claiming>(&role_);
  return claiming != nullptr ? claiming->sequence : 0;
}

}  // namespace bellwether
