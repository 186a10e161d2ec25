// Guard on a store: requests to it, one at a time, and what becomes of their answers.  What is
// asked for is decided in node_bid.cc (the candidate) and node_reign.cc (the leader).
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {

using Holder = StoreRecord::Holder;

// For how long an answer is waited for.
Duration Node::patience() const {
  if (is_leading()) return store_->patience.within(valid_until() - now_);
  return is_leaving_ ? store_->patience.last() : store_->patience.now();
}

// A request that may still be under way is given up.
void Node::begin_request(StoreRequest::Kind kind) {
  store_->request = StoreRequest{.kind = kind, .number = ++store_->number, .sent_at = now_};
  timers_.arm(Timer::kStore, now_ + patience());
}

void Node::give_up_request() {
  if (!store_->request) return;
  store_->request.reset();
  store_->view.forget();
  timers_.disarm(Timer::kStore);
}

void Node::read_record() {
  begin_request(StoreRequest::Kind::kRead);
  effects_.push_back(StoreRead{.number = store_->number, .patience = patience()});
}

void Node::write_record(StoreRequest::Kind kind, StoreRecord record) {
  begin_request(kind);
  effects_.push_back(StoreWrite{.number = store_->number,
                                .patience = patience(),
                                .expected = store_->view.version(),
                                .record = std::move(record)});
}

// Whoever finds none makes one that nobody holds: it gives nobody the right to lead, and is only a
// version for a claim to be conditional on.  Were it made in this process's name, another one that
// had made it, led by it and lost it meanwhile would lead, too.
void Node::make_record() { write_record(StoreRequest::Kind::kMake, {.lease = store_->lease}); }

StoreRecord Node::record_of(const MemberEntry& holder, uint64_t epoch) const {
  return {.holder = Holder::kMember,
          .id = holder.id,
          .name = holder.name,
          .home = holder.home,
          .boot = holder.boot,
          .epoch = epoch,
          .lease = store_->lease};
}

void Node::note_leases() {
  if (store_) store_->view.set_members_lease(members_.longest_lease());
}

Ground Node::ground_to_write() const {
  const StoreRecord& record = store_->view.record();
  const Member* holder = members_.find(record.id);
  const bool is_its_word =
      holder != nullptr && record.is_held_by(holder->entry.id, holder->released_home);
  return store_->view.ground(now_, members_.self(),
                             {.released = is_its_word ? holder->released : 0,
                              .has_ended = store_->ended.has(record.boot)});
}

bool Node::holds_record() const {
  return store_->view.holds(members_.self().id, members_.self().home);
}

bool Node::is_flag_on() const { return is_leading() && valid_until() > now_; }

// --- answers ---

// Whether it answers what is asked now, which is answered with it.
bool Node::is_answered(uint64_t number) {
  if (!store_ || !store_->request || store_->request->number != number) return false;
  store_->request.reset();
  timers_.disarm(Timer::kStore);
  return true;
}

void Node::on(const StoreSeen& seen) {
  const bool is_event = seen.number == 0;
  if (!store_) return;
  const auto request = store_->request;
  if (!is_event && !is_answered(seen.number)) return;
  if (!is_event) store_->patience.on_answer(now_ - request->sent_at);
  // Of what was forgotten as well: the same version again is no sign of life.
  const bool is_news = seen.sight.version != store_->view.version();
  note_store_is_there(is_news);
  // What a leader has written is newer than any event; and of a claim the answer tells.
  if (is_event && (is_leading() || store_->claim || handover_)) return;
  const StoreRecord before = store_->view.record();
  see_record(seen.sight, seen.clock_ms);
  const StoreRecord& record = store_->view.record();
  if (is_leading()) return judge_record();
  if (handover_) return go_on_with_handover();
  if (!store_->asking) return;
  const bool is_held = record.holder == Holder::kMember || record.holder == Holder::kStranger;
  const bool is_renewed =
      is_news && is_held && ground_to_write() == Ground::kNone &&
      std::tie(before.holder, before.id, before.home, before.name, before.epoch) ==
          std::tie(record.holder, record.id, record.home, record.name, record.epoch);
  is_renewed ? on_renewal_of_other() : pursue_bid();
}

// An epoch that is too far ahead to be believed is none of ours.
void Node::see_record(StoreSight sight, uint64_t clock_ms) {
  StoreRecord& record = sight.record;
  if (!is_plausible(record.epoch)) {
    record.epoch = 0;
    record.holder = record.holder == Holder::kMember ? Holder::kStranger : Holder::kUnknown;
  }
  raise_epoch(record.epoch);
  store_->view.see(sight, now_, clock_ms, is_flag_on());
}

void Node::on(const StoreAnswered& answer) {
  if (!store_ || !store_->request) return;
  const StoreRequest request = *store_->request;
  if (!is_answered(answer.number)) return;
  store_->patience.on_answer(now_ - request.sent_at);
  note_store_is_there(true);
  if (!answer.is_written) return on_conflict();
  switch (request.kind) {
    case StoreRequest::Kind::kRead:
      return;
    case StoreRequest::Kind::kMake:
      see_record({answer.version, {.lease = store_->lease}}, answer.clock_ms);
      return is_leading() ? judge_record() : pursue_bid();
    case StoreRequest::Kind::kClaim:
      see_record({answer.version, record_of(members_.self(), store_->claim->epoch)},
                 answer.clock_ms);
      store_->claim->sent_at = request.sent_at;
      store_->claim->held_until = store_->held_until(request.sent_at);
      return take_if_written();
    case StoreRequest::Kind::kRenew:
      see_record({answer.version, record_of(members_.self(), leader()->epoch)}, answer.clock_ms);
      return on_renewed(request.sent_at);
    case StoreRequest::Kind::kGive:
      return on_given(answer.version);
  }
}

// Somebody has written since.
void Node::on_conflict() {
  store_->view.forget();
  drop_claim();
  read_record();
}

void Node::on(const StoreFailed& failed) {
  if (!store_) return;
  const bool is_of_watch = failed.number == 0;
  const bool is_write = store_->request && store_->request->kind != StoreRequest::Kind::kRead;
  if (!is_of_watch && !is_answered(failed.number)) return;
  if (!is_of_watch && failed.why == StoreFailure::kTimeout) store_->patience.on_timeout();
  store_->failure = failed.why;
  store_->has_write_failed |= !is_of_watch && is_write;
  if (is_of_watch && (is_leading() || store_->request)) return;
  if (!is_of_watch) store_->view.forget();
  if (is_leading()) return try_to_renew_again(failed.retry_after);
  if (handover_) return on_handover_failed();
  stay_away(failed.retry_after, "the store does not answer");
}

// Its word that it could lead would be worth nothing, and all others would wait for it.  When it
// may be asked again nothing is sent to the store: only who is to lead asks.
void Node::stay_away(Duration at_least, const char* why) {
  give_up_request();  // its timer is the one that ends this
  const auto members = static_cast<Duration::rep>(members_.ranked().size());
  store_->is_away = true;
  const Duration wait = store_->backoff.next(std::max(at_least, members * options_.answer_timeout));
  timers_.arm(Timer::kStore, now_ + wait);
  update_electable();
  if (is_candidate()) give_up_claim(why);
}

// `takes_writes`: somebody has written.
void Node::note_store_is_there(bool takes_writes) {
  if (takes_writes) store_->has_write_failed = false;
  if (!store_->has_write_failed) store_->failure.reset();
  store_->backoff.restart();
  if (!store_->is_away) return;
  timers_.disarm(Timer::kStore);
  be_back();
}

// Another process renews the record under this one's id: a state folder was copied, and both run.
// This one asks again when that record may be over, for the other may have been an earlier life
// whose last write came late.
void Node::note_twin() {
  store_->has_twin = true;
  stay_away(store_->view.over_at() - now_, "the record is another process's, of the same id");
}

// A take-over that came to nothing meanwhile told nothing of the leader.
void Node::be_back() {
  store_->is_away = false;
  store_->has_twin = false;
  update_electable();
  preempt_anew();
}

void Node::on_store_timer() {
  if (store_->request) {
    effects_.push_back(TimedOut{Awaited::kStore});
    return on(StoreFailed{.number = store_->request->number, .why = StoreFailure::kTimeout});
  }
  be_back();
}

// Nothing leaves, and no flag is on, in an epoch that the disk may still lose.
void Node::on_kept(const Persisted& stored) {
  const bool was_broken = std::exchange(store_->is_disk_broken, !stored.is_ok);
  if (stored.is_ok) store_->disk.on_stored(stored.record);
  if (was_broken == stored.is_ok) update_electable();
  if (stored.is_ok) return take_if_written();
  if (is_leading()) leave_claim();
  if (is_candidate()) give_up_claim("its epoch could not be stored");
}

// --- the watch: whoever is next in line must have seen the record for its whole length ---

void Node::watch_record() {
  if (!store_) return;
  const bool is_wanted = !has_left_ && !has_failed_ && !is_leading() &&
                         (is_candidate() || (may_lead() && is_next_in_line()));
  if (std::exchange(store_->is_watching, is_wanted) != is_wanted) {
    store_->watched_since = now_;
    effects_.push_back(StoreWatch{is_wanted});
  }
}

// Nobody who could lead is above it, but for the leader.
bool Node::is_next_in_line() const {
  const auto current = leader();
  const Member* leading = current ? members_.find(current->id) : nullptr;
  const bool is_leader_above = leading != nullptr && leading->entry.is_electable &&
                               leading->entry.liveness == Liveness::kAlive &&
                               members_.self().rank() < leading->entry.rank();
  return members_.living_candidates_above_self() == (is_leader_above ? 1u : 0u);
}

}  // namespace bellwether
