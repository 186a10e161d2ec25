// Guard on a store, the candidate: it waits until it may write over the record, writes itself into
// it, and leads once the store, and its own disk, have it.
//
//   plugin claims - ground to write? - claim with the store and the disk - written - leader
//
// While it waits for a dead leader's lease it tells all others by CANVASS, who leave it the turn;
// a leader that it outranks hands over to it for that.  Whoever hears another leader says so.  One
// that has proof of the holder's end need not wait, and is told to claim; what either of them has
// begun goes on meanwhile, so it takes no longer than if the other were not there.
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// Others leave it the turn for three times as long.
constexpr int kTurn = 3;

// Many members need not be many candidates.
constexpr Duration kMostForClaims = std::chrono::seconds(15);

}  // namespace

void Node::bid(Proposal proposal) {
  if (is_leading()) return claim_again();
  if (is_claiming()) return;
  store_->awaited.reset();
  // It waits for its leader to hand over, no longer than that may take.
  if (leader()) proposal.is_take_over = true;
  store_->asking_until = leader() ? now_ + patience_for_handover() : kNever;
  store_->asking = std::move(proposal);
  store_->canvass_again = now_;
  pursue_bid();
}

// After whatever may let it go on.
void Node::pursue_bid() {
  StoreGuard& store = *store_;
  if (!store.asking || store.request) return;
  if (!store.view.is_known()) return read_record();
  if (store.view.is_absent()) return make_record();
  const Ground ground = ground_to_write();
  if (ground != Ground::kNone && is_to_be_read_again(ground)) return read_record();
  if (ground == Ground::kNone) return await_turn();
  send_claim();
}

// A claim over what is there no more cannot succeed, and would cost the group an epoch.  A watch
// shows what is there; but that nothing was shown for so long may be the watch's fault.
bool Node::is_to_be_read_again(Ground ground) const {
  const StoreGuard& store = *store_;
  const Instant looked_at = store.view.looked_at();
  const bool is_watched = store.is_watching && looked_at >= store.watched_since;
  if (is_watched && ground != Ground::kExpired) return false;
  return now_ - looked_at > store.patience.now();
}

// A leader that is there hears of it as well.
void Node::await_turn() {
  if (now_ >= store_->asking_until) {
    give_up_claim("the leader did not hand over");
    return retry_take_over();
  }
  if (now_ >= store_->canvass_again) {
    store_->canvass_again = now_ + options_.coordinator_timeout;
    // The last question was answered by nobody else.
    if (now_ >= store_->told_until + options_.coordinator_timeout) store_->told.clear();
    send_to_connected(Canvass{.number = ++store_->canvass,
                              .voters = store_->hash,
                              .is_planned = store_->asking->is_planned,
                              .is_take_over = leader().has_value(),
                              .score = members_.self().score,
                              .holder_boot = store_->view.record().boot});
  }
  timers_.arm(Timer::kClaim,
              std::min({store_->canvass_again, store_->view.over_at(), store_->asking_until}));
}

// Disk and store are written side by side; no frame and no flag names the epoch before.
void Node::send_claim() {
  Proposal proposal = *std::exchange(store_->asking, std::nullopt);
  begin_store_claim();
  role_ = Claiming{.epoch = record_.max_epoch,
                   .candidacy = Candidacy(std::move(proposal)),
                   .score = members_.self().score};
  for (const Timer timer : {Timer::kJoin, Timer::kElect, Timer::kPreempt, Timer::kSuspicion}) {
    timers_.disarm(timer);
  }
  publish(Why::kClaims);
}

void Node::begin_store_claim() {
  timers_.disarm(Timer::kClaim);  // of the one before, which the disk did not get in time
  const uint64_t epoch = std::max(store_->view.least_epoch(now_), known_epoch() + 1);
  store_->claim = StoreClaim{.epoch = epoch};
  record_.max_epoch = epoch;
  effects_.push_back(Persist{record_});
  write_record(StoreRequest::Kind::kClaim, record_of(members_.self(), epoch));
}

// The store has it, and the disk, too.
void Node::take_if_written() {
  const auto& claim = store_->claim;
  if (!claim || !claim->held_until) return;
  if (!store_->disk.has(record_)) {
    return timers_.arm(Timer::kClaim,
                       std::min(now_ + 2 * options_.coordinator_timeout, *claim->held_until));
  }
  // One that was heard of since is later; or the answer took longer than the lease.
  const bool is_over = known_epoch() > claim->epoch || *claim->held_until <= now_;
  if (is_over) return drop_claim(), go_on_after_claim();
  lead_by_record(*std::exchange(store_->claim, std::nullopt));
}

// What was claimed is not led; the proposal stands.
void Node::drop_claim() {
  store_->claim.reset();
  auto* claiming = std::get_if<Claiming>(&role_);
  if (claiming == nullptr) return;
  store_->asking = claiming->candidacy.proposal();
  store_->asking_until = kNever;
  role_ = Leaderless{};
}

void Node::go_on_after_claim() { is_leading() ? judge_record() : pursue_bid(); }

// What a bid, a claim or a reign leaves behind when it has ended.
void Node::end_bid() {
  store_->asking.reset();
  store_->claim.reset();
  store_->told.clear();
  store_->told_until = Instant{};
  give_up_request();
}

void Node::on_bid_timer() {
  if (store_->asking) return pursue_bid();
  if (!store_->claim) return;
  // Written, but the disk has not got it.
  if (is_leading()) return leave_claim();
  stay_out_for_disk();
  give_up_claim("its disk does not answer");
}

// It would win each election and never lead, for its disk works whenever it is asked.  So others
// have their turn, for longer each time: at most until a claim whose end none of them has heard is
// over, and each has claimed once, for they may not be able to lead either.  It is not for this
// node to know who could: one that it does not hear would wait for ever for the end of its claims.
void Node::stay_out_for_disk() {
  const auto members = static_cast<Duration::rep>(members_.ranked().size());
  const Duration claim = store_->patience.now() + 2 * options_.coordinator_timeout;
  const Duration claims = std::min(members * claim, kMostForClaims);
  const Duration longest = 2 * store_->view.longest_lease() + claims;
  store_->late_disk.note(now_, now_, Duration::zero(), longest);
  const Instant until = store_->late_disk.over_at();
  if (until <= now_ || (timers_.is_armed(Timer::kHold) && timers_.deadline(Timer::kHold) > until)) {
    return;
  }
  timers_.arm(Timer::kHold, until);
  update_electable();
  send_to_connected(new_wish());  // or they would wait for its turn
}

void Node::on_renewal_of_other() {
  if (leader()) return pursue_bid();  // it knows, and has asked for its place
  const StoreRecord& record = store_->view.record();
  if (store_->view.is_held_by_twin_of(members_.self())) return note_twin();
  give_up_claim("the store says that another one leads");
  if (members_.find(record.id) != nullptr) wait_for_leader(record.id);
}

// --- what candidates and others tell each other ---

void Node::on_bid(Member& from, const Canvass& canvass) {
  if (is_leading()) return on_take_over(from, canvass);
  const Uuid id = from.entry.id;
  CanvassReply reply{.number = canvass.number};
  const auto current = leader();
  if (current && current->id != id) {
    reply.leader = current;
  } else if (is_candidate() && from.entry.rank() < members_.self().rank()) {
    return;  // it is this one's turn, which the other hears as well
  } else {
    reply.is_yes = true;
    reply.has_proof = may_lead() && store_->ended.has(canvass.holder_boot);
  }
  send(id, reply);
  // One that asks the store already, and need not wait, goes on: its answer may take longer than
  // the other's next question.
  const bool is_ahead = is_candidate() && reply.has_proof;
  if (reply.is_yes && !is_ahead) leave_turn_to(from);
}

void Node::leave_turn_to(const Member& candidate) {
  if (is_claiming()) return;
  if (store_->asking) give_up_claim("it is another one's turn to claim");
  if (!std::holds_alternative<Leaderless>(role_)) return;
  store_->awaited = candidate.entry.id;
  tell_plugin(ELECTION_EVENT_STAND_DOWN, ELECTION_REASON_LEADER_EXISTS);
  elect_reason_ = ELECTION_REASON_RETRY;
  timers_.arm(Timer::kElect, now_ + kTurn * options_.coordinator_timeout);
}

// A proof is good for who has it, and is not told.  Those that have one are told to claim one after
// the other, as successors are, for the store of one may be slow or out of its reach.  This process
// waits on for the record, whatever becomes of them.
void Node::tell_to_claim(const Uuid& id) {
  StoreGuard& store = *store_;
  const bool was_told = std::ranges::find(store.told, id) != store.told.end();
  if (now_ < store.told_until || was_told) return;
  store.told.push_back(id);
  store.told_until = now_ + patience_for_handover();
  // It may be asked for its place then.
  send(id, PlannedHandover{});
}

// It cannot claim, as it says itself, or it is gone.
void Node::end_turn_of(const Uuid& told) {
  StoreGuard& store = *store_;
  const bool is_last = !store.told.empty() && store.told.back() == told;
  if (is_last) store.told_until = std::min(store.told_until, now_);
}

// The one whose turn it was is gone.
void Node::take_turn_of(const Uuid& gone) {
  if (!store_) return;
  end_turn_of(gone);
  if (store_->awaited != gone) return;
  store_->awaited.reset();
  if (std::holds_alternative<Leaderless>(role_)) schedule_election(ELECTION_REASON_RETRY);
}

void Node::on_bid_reply(Member& from, const CanvassReply& reply) {
  if (reply.number != store_->canvass || !store_->asking) return;
  const auto current = leader();
  const bool is_of_leader = current && current->id == from.entry.id;
  if (is_of_leader && reply.is_yes) {
    store_->asking_until = now_ + reply.wait + patience_for_handover();
    return;
  }
  if (reply.is_yes && !reply.leader && !current) {
    return reply.has_proof ? tell_to_claim(from.entry.id) : end_turn_of(from.entry.id);
  }
  if (!reply.leader || is_over(reply.leader->epoch)) return;
  if (current && current->id == reply.leader->id) {
    if (is_of_leader) accept_refusal(reply.wait);
    return;
  }
  if (reply.leader->id == members_.self().id) return;
  give_up_claim("others hear a leader");
  consider(*reply.leader, from.entry.id);
}

}  // namespace bellwether
