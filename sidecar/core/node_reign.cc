// Guard on a store, the leader: it renews the record, takes a new epoch when somebody has made the
// record anew, and names its successor in it.  And the others, who follow whoever leads by it.
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// Of the patience for one answer, between two tries while the lease runs.
constexpr int kTriesInPatience = 4;

}  // namespace

void Node::lead_by_record(const StoreClaim& claim) {
  Proposal proposal;
  if (const auto* claiming = std::get_if<Claiming>(&role_))
    proposal = claiming->candidacy.proposal();
  if (const auto* leading = std::get_if<Leading>(&role_)) {
    proposal.is_appointed = leading->is_appointed;
  }
  timers_.disarm(Timer::kClaim);
  timers_.arm(Timer::kLease, *claim.held_until);
  arm_renewal(claim.sent_at);
  lead({.epoch = claim.epoch,
        .is_appointed = proposal.is_appointed,
        .sequence = 1,
        .score = members_.self().score,
        .right = ByRecord{*claim.held_until}},
       proposal);
}

void Node::renew() {
  if (store_->request) return;
  store_->view.is_known() ? judge_record() : read_record();
}

void Node::on_renewed(Instant sent_at) {
  auto& record = std::get<ByRecord>(std::get<Leading>(role_).right);
  record.until = std::max(record.until, store_->held_until(sent_at));
  timers_.arm(Timer::kLease, record.until);
  arm_renewal(sent_at);
  publish();
}

// From the sending of the write before, as the lease; of a slow store at once, and not in the past,
// which would look like a pause of this process.
void Node::arm_renewal(Instant sent_at) {
  timers_.arm(Timer::kRenew, std::max(now_, sent_at + store_->renew_interval));
}

// It leads on in the epoch that it has, as long as the lease runs.
void Node::leave_claim() {
  if (!store_->claim) return;
  give_up_request();
  try_to_renew_again({});
}

// Until the lease ends, each time by another connection.
void Node::try_to_renew_again(Duration at_least) {
  store_->claim.reset();
  timers_.arm(Timer::kRenew,
              now_ + std::max(store_->patience.least() / kTriesInPatience, at_least));
}

// A leader goes on by the record as it has seen it last.
void Node::judge_record() {
  const StoreView& view = store_->view;
  if (view.is_absent()) return make_record();
  const uint64_t epoch = leader()->epoch;
  const bool is_own = holds_record() && view.record().epoch == epoch;
  if (is_own && known_epoch() == epoch) {
    return write_record(StoreRequest::Kind::kRenew, record_of(members_.self(), epoch));
  }
  // Made anew; or a claim of this process that it had given up came late; or a claim that failed
  // left somebody with a later epoch, who does not follow this one.  It leads on in a new one, and
  // its flag stays on meanwhile.
  if (ground_to_write() != Ground::kNone) return begin_store_claim();
  remark("the store's record is another's");
  preemption_.on_leadership_lost(now_);
  abdicate(Why::kRecordTaken);
  send_to_connected(Resign{});
  finish_handover();
}

// --- hand-over: the flag is off; then the record names the successor; then the successor hears ---

// The record is read, and written; then the successor hears of it.
Duration Node::patience_for_handover() const { return options_.handover_timeout + 2 * patience(); }

void Node::begin_giving() {
  timers_.arm(Timer::kHandover, now_ + patience_for_handover());
  timers_.arm(Timer::kHeartbeat, now_ + options_.heartbeat_interval);
  store_->view.is_known() ? give_record() : read_record();
}

// It names the next successor, or nobody if there is none.  The epoch stays as it is, and the
// successor claims one of its own: nothing leads by a record that only names it, so a late or
// second HANDOVER does no harm, and this process may write over it again.
void Node::give_record() {
  const Member* successor = next_successor();
  if (successor != nullptr) handover_->tried.push_back(successor->entry.id);
  handover_->given =
      record_of(successor != nullptr ? successor->entry : members_.self(), handover_->epoch);
  if (successor == nullptr) handover_->given->holder = StoreRecord::Holder::kReleased;
  write_given();
}

// The record may be ahead of what this process has led: by what it has claimed last, or by a
// successor that gave it back.
void Node::write_given() {
  uint64_t& epoch = handover_->given->epoch;
  epoch = std::max(epoch, store_->view.record().epoch);
  write_record(StoreRequest::Kind::kGive, *handover_->given);
}

void Node::on_given(const StoreVersion& version) {
  if (!handover_) {  // its time was over before the store answered
    store_->view.forget();
    return pursue_bid();
  }
  see_record({version, *handover_->given}, 0);
  if (handover_->given->holder == StoreRecord::Holder::kReleased) return resign();
  const Uuid& successor = handover_->tried.back();
  const Member* member = members_.find(successor);
  if (member == nullptr || !member->is_candidate()) return give_to_next();
  send(successor, PlannedHandover{.is_appointed = handover_->is_appointed, .version = version});
  timers_.arm(Timer::kHandover, now_ + options_.handover_timeout + patience());
}

// The successor does not claim, unless the store has its claim already.  What is asked of the store
// has an end of its own.
void Node::give_to_next() {
  if (store_->request) return timers_.arm(Timer::kHandover, now_ + patience());
  timers_.arm(Timer::kHandover, now_ + patience_for_handover());
  give_record();
}

// The writes may take longer than a silent leader is waited for, and whoever claims meanwhile
// takes an epoch in which the HANDOVER is old.  Its successor's, of which it may have heard, is not
// its own to name.
void Node::keep_waiting() {
  if (!handover_) return;
  Header own = header();
  own.epoch = std::min(own.epoch, handover_->epoch);
  for (const Member& member : std::as_const(members_).all()) {
    const Heartbeat beat{.is_appointed = handover_->is_appointed, .is_effective = false};
    if (member.is_connected) effects_.push_back(Send{member.entry.id, Frame{own, beat}});
  }
  timers_.arm(Timer::kHeartbeat, now_ + options_.heartbeat_interval);
}

// The leader leads no longer, and its successor not yet, which says so should it have to give up.
void Node::wait_for_successor(const Member& from, uint64_t epoch) {
  send(from.entry.id, HeartbeatAck{.view = members_.version(), .is_electable = may_lead()});
  auto* following = std::get_if<Following>(&role_);
  const bool is_its_leader = is_following(from.entry.id) && following->epoch == epoch;
  if (!is_its_leader) return;
  timers_.arm(Timer::kSuspicion, detector_.suspect_at(from.arrivals, now_));
  if (std::exchange(following->is_effective, false)) publish(Why::kLeaderResigned);
}

// It did not hear what became of its write, or somebody has written since, and it has looked.  What
// a successor has claimed that has ended since, or given it up, it gives to the next one.
void Node::go_on_with_handover() {
  const StoreRecord& record = store_->view.record();
  const std::vector<Uuid>& tried = handover_->tried;
  const bool is_given = std::any_of(tried.begin(), tried.end(),
                                    [&](const Uuid& id) { return record.is_held_by(id); });
  const Ground ground = ground_to_write();
  const bool is_given_up = ground == Ground::kEnded || ground == Ground::kSaidReleased;
  const bool is_own = holds_record() || (is_given && record.epoch == handover_->given->epoch);
  if (!is_own && !is_given_up) return resign();
  if (!is_own) {
    handover_->epoch = std::max(handover_->epoch, record.epoch);  // one that was read may be old
    // The name that was to be written has not been.
    if (handover_->given && handover_->given->id != record.id) {
      std::erase(handover_->tried, handover_->given->id);
    }
    return give_to_next();
  }
  if (!handover_->given) return give_to_next();
  if (is_given && record.id == handover_->given->id) return on_given(store_->view.version());
  write_given();
}

// Once more, and then the others take the record by themselves: they hear that its epoch is over.
void Node::on_handover_failed() {
  if (std::exchange(handover_->has_failed, true)) return resign();
  read_record();
}

void Node::resign() {
  timers_.disarm(Timer::kHeartbeat);
  send_to_connected(Resign{});
  finish_handover();
}

// The leader that hands over has written this process's name into the record, as this version.  A
// candidate that waits for the record has not, and may not.
void Node::note_named(const Header& header, const PlannedHandover& frame) {
  if (!store_ || is_claiming()) return;
  timers_.disarm(Timer::kElect);  // it was to wait for another's claim
  if (frame.version.empty()) return;
  give_up_request();
  see_record({frame.version, record_of(members_.self(), header.epoch)}, 0);
}

// --- the others ---

// A COORDINATOR, or a heartbeat, of an epoch that is not over: its sender leads by the record.
// Returns whether it is followed.
bool Node::accept_reign(Member& from, const LeaderHint& claim) {
  const auto current = leader();
  if (current && current->id == claim.id && current->epoch == claim.epoch) return true;
  const bool is_taken = current && current->epoch == claim.epoch;
  if (is_taken || from.released >= claim.epoch) return false;
  if (is_leading()) stop_leading(Why::kYielded);
  if (claim.epoch > record_.max_epoch) {
    record_.max_epoch = claim.epoch;
    effects_.push_back(Persist{record_});
  }
  store_->awaited.reset();
  if (handover_) store_->view.forget();  // its successor has written since
  follow(claim);
  return true;
}

}  // namespace bellwether
