// Heartbeats: the leader beats to every member and each answers, 2(N-1) frames an interval.  A beat
// also repeats the leader's claim to those who missed it; the answer tells how new the member's
// list of members is, and who is behind gets the leader's.
#include <algorithm>
#include <chrono>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

void Node::beat() {
  if (!is_leading() && !is_claiming()) return keep_waiting();
  if (auto* leading = std::get_if<Leading>(&role_)) ++leading->sequence;
  if (auto* claiming = std::get_if<Claiming>(&role_)) ++claiming->sequence;
  if (lease() != nullptr) lease()->sent(sequence(), now_);
  if (is_leading()) {
    judge_followers();
    forget_the_gone();
    list_what_is_new();
    if (!is_leading()) return;  // the plugin was told of the changes, and it can fail
    publish();
  }
  for (const Member& member : std::as_const(members_).all()) {
    if (member.is_connected) send_heartbeat(member.entry.id);
  }
  timers_.arm(Timer::kHeartbeat, now_ + options_.heartbeat_interval);
}

// Somebody may name a thousand processes that there are not; all members dial them.
void Node::forget_the_gone() {
  constexpr Duration kHearsayFor = std::chrono::minutes(5);
  const Duration hearsay_for = std::min(kHearsayFor, options_.reap_after);
  if (members_.forget(now_ - options_.reap_after, now_ - hearsay_for)) on_members_changed();
}

// Everybody is told scores by their members; the leader's list repeats them, rarely, to those that
// did not hear.  And a list that went out while its disk was broken, or before a hand-over that was
// called off, says that this leader cannot lead: nothing else tells the others when it can.
void Node::list_what_is_new() {
  const bool has_news = has_unlisted_scores_ || (!handover_ && members_.is_self_outdated());
  if (!has_news || now_ - listed_at_ < kListInterval) return;
  has_unlisted_scores_ = false;
  listed_at_ = now_;
  members_.bump_view();
}

void Node::send_heartbeat(const Uuid& to) {
  if (sequence() == 0) return;  // claiming, and its own vote is not stored yet
  Heartbeat beat{.sequence = sequence(), .terms = terms()};
  if (const auto* leading = std::get_if<Leading>(&role_)) {
    beat.is_appointed = leading->is_appointed;
    beat.is_draining = is_draining();
    beat.score = leading->score;
  } else {
    const auto& claiming = std::get<Claiming>(role_);
    const Proposal& proposal = claiming.candidacy.proposal();
    beat.score = claiming.score;
    beat.is_effective = false;
    beat.is_appointed = proposal.is_appointed;
    beat.is_planned = proposal.is_planned;
  }
  send(to, beat);
}

void Node::on_announced_beat(Member& from, uint64_t epoch, const Heartbeat& beat) {
  const Uuid id = from.entry.id;
  if (store_ && !beat.is_effective) return wait_for_successor(from, epoch);
  const bool is_accepted = accept_leader(from, {id, epoch, beat.is_appointed, beat.score});
  if (has_left_) return;  // it was this claim that a leaving leader waited for
  HeartbeatAck ack{
      .sequence = beat.sequence, .view = members_.version(), .is_electable = may_lead()};
  if (is_accepted) {
    timers_.arm(Timer::kSuspicion, detector_.suspect_at(from.arrivals, now_));
    if (timers_.is_armed(Timer::kPlugin)) {
      tell_plugin(ELECTION_EVENT_LEADER, ELECTION_REASON_HEARD);
    }
  } else {
    ack.refusal = Refusal{epoch, leader()};
    effects_.push_back(Stale{FrameType::kHeartbeat, id});
  }
  send(id, ack);
  if (is_accepted) correct_leader(id);
}

void Node::on_frame(Member& from, const Header&, const HeartbeatAck& ack) {
  note_support(from, ack);
  if (store_ && !ack.is_electable) on_declined(from.entry.id);
  // What comes late, or twice, tells what is over.
  const bool is_news =
      is_leading() && ack.sequence <= sequence() && ack.sequence > from.acknowledged_beat;
  if (!is_news) return;
  from.acknowledged_beat = ack.sequence;
  if (members_.set_electable(from, ack.is_electable)) on_members_changed();
  send_list_if_behind(from, ack);
}

// What its last list does not say, or says wrong; both may have been lost on their way.
void Node::correct_leader(const Uuid& id) {
  const bool is_told_lately =
      now_ - told_of_application_at_ < kListInterval + 2 * options_.heartbeat_interval;
  if (members_.is_self_misheard(is_told_lately)) send(id, wish());
  if (members_.version() != ViewVersion{}) tell_leader_of_unlisted(id);
}

// A list that is on its way is not sent again: only a beat that was sent behind it tells whether it
// has arrived.
void Node::send_list_if_behind(Member& from, const HeartbeatAck& ack) {
  if (!is_leading() || ack.view == members_.version()) return;
  if (ack.sequence <= from.listed_beat) return;
  from.listed_beat = sequence();
  send(from.entry.id, MembersFrame{members_.view()});
}

// Leader: who has not answered for too long is suspected, and the next view says so.
void Node::judge_followers() {
  std::vector<Member*> silent;
  for (Member& member : members_.all()) {
    const bool is_self = member.entry.id == members_.self().id;
    if (is_self || member.entry.liveness != Liveness::kAlive) continue;
    if (detector_.suspect_at(member.arrivals, now_) <= now_) silent.push_back(&member);
  }
  for (Member* member : silent) note_liveness(*member, Liveness::kSuspect);
}

void Node::judge_leader() {
  const auto* following = std::get_if<Following>(&role_);
  if (following == nullptr) return;
  const Uuid id = following->leader;
  Member* leader = members_.find(id);
  if (leader != nullptr) {
    const Instant suspect_at = detector_.suspect_at(leader->arrivals, now_);
    if (suspect_at > now_) return timers_.arm(Timer::kSuspicion, suspect_at);
    note_liveness(*leader, Liveness::kSuspect);
  }
  effects_.push_back(TimedOut{Awaited::kHeartbeat});
  lose_leader(id, ELECTION_REASON_LEADER_LOST);
}

// A process that was stopped itself has no right to suspect others for it.
void Node::on_own_pause(Duration late) {
  remark("this process was paused");
  for (Member& member : members_.all()) member.arrivals.forgive(late, now_);
  detector_.doubt_self(now_);
  const auto* following = std::get_if<Following>(&role_);
  if (following == nullptr) return;
  const Member* leader = members_.find(following->leader);
  if (leader != nullptr) {
    timers_.arm(Timer::kSuspicion, detector_.suspect_at(leader->arrivals, now_));
  }
}

}  // namespace bellwether
