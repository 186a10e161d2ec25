// The modified variant; modified.hh tells the algorithm in four steps, which are named here.
#include "modified.hh"

#include <algorithm>

namespace bellwether::bully {

// Step 1, the one that is asked.
void Modified::on_election(const View& view, uint32_t from, const election_message& election,
                           Outbox& outbox) {
  const bool is_in = takes_part(view, election, settings_.sticky);
  outbox.send_answer(from, election.round, view.may_lead(view.self()), is_in);
  // Of several initiators the first one halts; the others' rounds end with the same COORDINATOR.
  if (!is_in || state_ != ELECTION_STATE_IDLE) return;
  initiator_ = view.id(from);
  is_halted_by_call_ = (election.flags & ELECTION_FLAG_CALLED) != 0;
  const uint64_t halt_timeout_ns = settings_.answer_timeout_ns + settings_.coordinator_timeout_ns;
  become(ELECTION_STATE_HALTED, view.now_ns() + halt_timeout_ns, "a lower rank holds an election",
         outbox);
}

void Modified::on_answer(const View& view, uint32_t from, const election_message& answer,
                         Outbox& outbox) {
  const bool electable = (answer.flags & ELECTION_FLAG_ELECTABLE) != 0;
  if (!round_.record_answer(view.id(from), answer.round, electable)) return;
  if (state_ == ELECTION_STATE_COLLECTING && round_.is_complete()) hand_over(view, outbox);
}

// Step 3.  Who collects or waits itself has better knowledge than the sender: it carries on.
void Modified::on_handover(const View& view, const election_message& handover, Outbox& outbox) {
  const bool is_free =
      state_ == ELECTION_STATE_HALTED || (state_ == ELECTION_STATE_IDLE && !view.has_leader());
  const bool is_called = (handover.flags & ELECTION_FLAG_CALLED) != 0;
  if (is_free) start(view, {handover.ids, handover.id_count}, is_called, outbox);
}

// Who was halted for nothing need not wait for the end of an election that will not come.  One that
// an operator called goes on; so does this process's own.
void Modified::on_leader_heard(Outbox& outbox) {
  if (state_ == ELECTION_STATE_HALTED && !is_halted_by_call_) {
    become_idle("the leader is there", outbox);
  }
}

void Modified::on_timeout(const View& view, Outbox& outbox) {
  if (state_ == ELECTION_STATE_COLLECTING) return hand_over(view, outbox);
  if (state_ == ELECTION_STATE_WAITING) return replace_chosen(view, outbox);
  if (state_ == ELECTION_STATE_HALTED) return start(view, is_halted_by_call_, outbox);
}

// The death of the one that is waited for is as good as its timeout, and comes sooner.
void Modified::on_members(const View& view, Outbox& outbox) {
  if (state_ == ELECTION_STATE_COLLECTING) {
    round_.ask_higher(view, outbox);
    if (round_.is_complete()) hand_over(view, outbox);
  } else if (state_ == ELECTION_STATE_WAITING) {
    if (view.is_gone(chosen_)) replace_chosen(view, outbox);
  } else if (state_ == ELECTION_STATE_HALTED) {
    if (view.is_gone(initiator_)) succeed_initiator(view, outbox);
  }
}

// Step 1, the initiator.
void Modified::start(const View& view, bool is_called, Outbox& outbox) {
  start(view, {}, is_called, outbox);
}

// The same, and step 3, the chosen one, which leaves out those that were asked already.
void Modified::start(const View& view, std::span<const election_id> asked_already, bool is_called,
                     Outbox& outbox) {
  round_.begin(view, asked_already, is_called);
  become(ELECTION_STATE_COLLECTING, view.now_ns() + settings_.answer_timeout_ns,
         "asks the higher ranks", outbox);
  round_.ask_higher(view, outbox);
  if (round_.is_complete()) hand_over(view, outbox);
}

// Step 2.
void Modified::hand_over(const View& view, Outbox& outbox) {
  const uint32_t chosen = round_.highest_candidate(view);
  if (chosen == ELECTION_NOBODY) return win(view, "no higher rank may lead", outbox);
  chosen_ = view.id(chosen);
  become(ELECTION_STATE_WAITING, view.now_ns() + settings_.coordinator_timeout_ns,
         "handed over to the highest that answered", outbox);
  outbox.send_handover(chosen, round_.number(), round_.is_called(), round_.asked());
}

// Step 4, first half.  When all who answered have failed, only a new round can tell who is there.
void Modified::replace_chosen(const View& view, Outbox& outbox) {
  round_.disqualify(chosen_);
  if (round_.highest_candidate(view) != ELECTION_NOBODY) return hand_over(view, outbox);
  start(view, round_.is_called(), outbox);
}

// Step 4, second half.  All who were halted learn of the death together: the highest starts at
// once and the others, each a little later than the one above it, find its COORDINATOR there.
void Modified::succeed_initiator(const View& view, Outbox& outbox) {
  const uint64_t living_higher = view.living_higher();
  if (living_higher == 0) return start(view, is_halted_by_call_, outbox);
  const uint64_t wait_ns =
      std::min(living_higher * settings_.answer_timeout_ns, settings_.coordinator_timeout_ns);
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
