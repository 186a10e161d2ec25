// Whoever wins an election against a leader that works asks it for its place, and the leader hands
// over: so its application can finish first, and no two flags are on for the time of a message.
// Only if nothing comes of it is the place claimed as if there were no leader, as the papers have
// it; so it is with leaders of earlier releases, too, which do not know the question.
//
// It is a CANVASS, as under a guard on a store, where the same question goes to all
// (node_bid.cc): it is not one of the messages that the papers count, and no plugin has to know it.
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

void Node::ask_or_claim(Proposal proposal) {
  asks_for_place() ? ask_for_place(std::move(proposal)) : claim_now(std::move(proposal));
}

// The papers' processes ask nobody: a higher one bullies.  And whoever only claims, and does not
// lead yet, has nothing to give.
bool Node::asks_for_place() const {
  const auto* following = std::get_if<Following>(&role_);
  return options_.sticky && following != nullptr && following->is_effective;
}

void Node::ask_for_place(Proposal proposal) {
  const bool is_planned = proposal.is_planned;
  if (majority_) {
    majority_->canvassing.reset();
    majority_->begin_question();
  }
  asking_ = Asking{.proposal = std::move(proposal),
                   .number = majority_ ? majority_->number : ++questions_};
  send(leader()->id, Canvass{.number = asking_->number,
                             .voters = guard_hash(),
                             .is_planned = is_planned,
                             .is_take_over = true,
                             .score = members_.self().score});
  timers_.arm(Timer::kClaim, now_ + options_.handover_timeout);
}

// Another election has come to the same end.  An operator's wish weighs more than what was asked.
void Node::ask_again(Proposal proposal) {
  const bool weighs_more = proposal.is_planned && !asking_->proposal.is_planned;
  proposal.is_planned |= asking_->proposal.is_planned;
  asking_->proposal = std::move(proposal);
  if (weighs_more) ask_for_place(std::move(asking_->proposal));
}

void Node::on_asking_timer() {
  effects_.push_back(TimedOut{Awaited::kHandover});
  if (!may_lead()) return give_up_claim("it may not lead any more");
  Proposal proposal = std::exchange(asking_, std::nullopt)->proposal;
  proposal.is_take_over = true;
  claim_now(std::move(proposal));
}

// Nobody else's word is waited for.  `is_given`: the leader hands over its place; otherwise it only
// tells that this process may claim.
void Node::take_place(bool is_appointed, bool is_given) {
  end_asking();
  Proposal proposal{.is_planned = true, .is_appointed = is_appointed, .is_take_over = is_given};
  if (store_) return bid(std::move(proposal));
  if (!is_claiming()) claim_now(std::move(proposal));
}

void Node::end_asking() {
  if (!std::exchange(asking_, std::nullopt)) return;
  timers_.disarm(Timer::kClaim);
}

// The leader's word: it lets its application finish first, or it stays.
void Node::on_place_reply(const CanvassReply& reply) {
  if (!reply.is_yes) return accept_refusal(reply.wait);
  timers_.arm(Timer::kClaim, now_ + reply.wait + options_.handover_timeout);
}

void Node::accept_refusal(Duration wait) {
  refused_until_ = now_ + wait;
  if (wait > Duration::zero()) has_tried_to_preempt_ = false;
  give_up_claim("the leader stays");
  arm_preemption();
}

// --- the leader that is asked ---

void Node::on_take_over(Member& from, const Canvass& canvass) {
  if (canvass.is_take_over && members_.set_electable(from, true)) on_members_changed();
  // It has given its place to somebody else, and each frame says that it has: whoever heard of it
  // before the successor's claim would claim as well.
  if (!is_leading() && handover_) return;
  CanvassReply reply{.number = canvass.number, .leader = leader()};
  if (is_leading() && gives_way_to(from, canvass)) {
    give_way_to(from, canvass);
    if (!is_leading()) return;  // the HANDOVER is on its way
    reply.is_yes = !handover_ || handover_->named.value_or(from.entry.id) == from.entry.id;
    reply.wait = drain_left();
  } else if (is_leading()) {
    reply.wait = stays_for();
  }
  const bool leads_on = is_leading() && (is_draining() || !reply.is_yes);
  if (leads_on && canvass.is_planned) end_called_election();
  send(from.entry.id, reply);
}

// Whoever takes part in it, this leader too, need not hold it again and again meanwhile.
void Node::end_called_election() {
  announce_again();
  end_needless_election();
}

// By what it says of itself: its score may be newer than the one that is known here.
bool Node::gives_way_to(const Member& candidate, const Canvass& canvass) const {
  const Uuid& id = candidate.entry.id;
  const bool is_promised = handover_ && handover_->is_appointed && handover_->named != id;
  if (is_promised || !candidate.is_candidate()) return false;
  if (canvass.is_planned) return true;
  if (stays_for() > Duration::zero()) return false;
  Rank rank = candidate.entry.rank();
  if (canvass.is_take_over) rank.score = canvass.score;
  return !std::get<Leading>(role_).is_appointed && preemption_.allows(rank, members_.self().rank());
}

// Of several that ask during a drain the highest has the place.
void Node::give_way_to(const Member& candidate, const Canvass& canvass) {
  const Uuid& id = candidate.entry.id;
  if (!handover_) {
    begin_handover(id, false, DrainReason::kTakeOver);
  } else if (!is_draining() || !handover_->named) {
    return;  // the highest is asked first anyway
  } else if (handover_->named != id) {
    const Member* named = members_.find(*handover_->named);
    const bool is_outranked = named != nullptr && candidate.entry.rank() < named->entry.rank();
    if (const Member* other = is_outranked ? &candidate : named) note_outranked(*other);
    if (is_outranked) return;
    redirect_handover(id, false, DrainReason::kTakeOver);
  }
  if (!is_draining()) return;
  handover_->question = PlaceQuestion{.number = canvass.number,
                                      .is_planned = canvass.is_planned,
                                      .score = canvass.score,
                                      .revision = candidate.entry.revision};
}

void Node::note_outranked(const Member& asker) {
  std::vector<Asker>& outranked = handover_->outranked;
  std::erase_if(outranked, [&](const Asker& other) { return other.id == asker.entry.id; });
  outranked.push_back({.id = asker.entry.id, .boot = asker.entry.boot});
}

// To whom it was promised.  Without this word it would claim the place when its time is over.
void Node::refuse_place() {
  const auto question = std::exchange(handover_->question, std::nullopt);
  if (!question) return;
  send(*handover_->named,
       CanvassReply{.number = question->number, .leader = leader(), .wait = stays_for()});
}

// As often as it is asked for its place in vain its application has stopped for nothing; and
// whoever asks may crash each time, and remember nothing.  So it works on for as long as it has
// stopped, at least.  That outlives the reign, for one that has crashed may have had the place.
void Node::note_asked_in_vain() {
  const Duration least = std::max(options_.heartbeat_interval, now_ - handover_->drain->since);
  asked_in_vain_.note(handover_->drain->since, now_, least);
}

// An operator has another leader in mind than the one that was left in peace.
void Node::forgive_askers() { asked_in_vain_ = Flapping{}; }

Duration Node::stays_for() const { return std::max(stays_until() - now_, Duration::zero()); }

Duration Node::drain_left() const {
  return is_draining() ? std::max(handover_->drain->until - now_, Duration::zero())
                       : Duration::zero();
}

}  // namespace bellwether
