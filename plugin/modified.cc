// The modified variant; modified.hh tells the algorithm in four steps, which are named here.
#include "modified.hh"

#include <algorithm>

namespace bellwether::bully {

// Step 1, the one that is asked.  Of several initiators the first one halts; the others' rounds end
// with the same COORDINATOR.
void Modified::on_election(const View& view, uint32_t from, bool is_called) {
  initiator_ = view.id(from);
  is_halted_by_call_ = is_called;
  become(ELECTION_STATE_HALTED, view.now_ns() + answer_timeout_ns_ + coordinator_timeout_ns_,
         "a lower rank holds an election");
}

// Step 2.
void Modified::conclude(const View& view) {
  const uint32_t chosen = round_.highest_candidate(view);
  if (chosen == ELECTION_NOBODY) return win(view, "no higher rank may lead");
  chosen_ = view.id(chosen);
  become(ELECTION_STATE_WAITING, view.now_ns() + coordinator_timeout_ns_,
         "handed over to the highest that answered");
  outbox_.send_handover(chosen, round_.number(), round_.is_called(), round_.asked());
}

// Step 3.  Who collects or waits itself has better knowledge than the sender: it carries on.
void Modified::on_handover(const View& view, std::span<const election_id> asked, bool is_called) {
  const bool is_free =
      state_ == ELECTION_STATE_HALTED || (state_ == ELECTION_STATE_IDLE && !view.has_leader());
  if (is_free) start(view, is_called, asked);
}

// A process that was halted for nothing need not wait for the end of an election that will not
// come. One that an operator called goes on; so does this process's own.
void Modified::on_leader_heard() {
  if (state_ == ELECTION_STATE_HALTED && !is_halted_by_call_) become_idle("the leader is there");
}

// Step 4.
void Modified::on_timeout(const View& view) {
  if (state_ == ELECTION_STATE_WAITING) return replace_chosen(view);
  if (state_ == ELECTION_STATE_HALTED) start(view, is_halted_by_call_);
}

// The death of the one that is waited for is as good as its timeout, and comes sooner.
void Modified::on_members(const View& view) {
  if (state_ == ELECTION_STATE_WAITING && view.is_gone(chosen_)) return replace_chosen(view);
  if (state_ == ELECTION_STATE_HALTED && view.is_gone(initiator_)) succeed_initiator(view);
}

// Step 4, first half.  When all who answered have failed, only a new round can tell who is there.
void Modified::replace_chosen(const View& view) {
  round_.disqualify(chosen_);
  if (round_.highest_candidate(view) != ELECTION_NOBODY) return conclude(view);
  start(view, round_.is_called());
}

// Step 4, second half.  All who were halted learn of the death together: the highest starts at
// once and the others, each a little later than the one above it, find its COORDINATOR there.
void Modified::succeed_initiator(const View& view) {
  const uint64_t living_higher = view.living_higher();
  if (living_higher == 0) return start(view, is_halted_by_call_);
  const uint64_t wait_ns = std::min(living_higher * answer_timeout_ns_, coordinator_timeout_ns_);
  deadline_ns_ = std::min(deadline_ns_, view.now_ns() + wait_ns);
}

// Only the initiator asks, and hands over if somebody answers; the chosen one asks whom the
// initiator left out, knowing that it is dead.
election_cost Modified::cost(const Case& which) {
  const uint32_t initiator = which.initiator();
  election_cost cost{};
  cost.answer = which.living_above(initiator);
  const bool is_left_out = which.winner_waits() && !which.asks_suspected();
  cost.election = which.asked_by(initiator) + (is_left_out ? 1u : 0u);
  cost.handover = cost.answer == 0 ? 0u : 1u;
  cost.coordinator = which.told();
  return cost;
}

}  // namespace bellwether::bully
