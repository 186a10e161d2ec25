// The classic variant; classic.hh tells the algorithm in four steps, which are named here.
#include "classic.hh"

namespace bellwether::bully {

// Step 2.
void Classic::conclude(const View& view) { win(view, "no higher rank answered"); }

// Step 3.
void Classic::on_candidate(const View& view) {
  become(ELECTION_STATE_WAITING, view.now_ns() + coordinator_timeout_ns_, "a higher rank answered");
}

void Classic::on_timeout(const View& view) {
  if (state_ != ELECTION_STATE_WAITING) return;
  // The member that answered did not take over, and there is a leader (this process came up under
  // it): one with the modified variant only waited to be handed over to.  The next question ends no
  // better.
  if (view.has_leader() && !round_.is_called()) return become_idle("the leader stays");
  start(view, round_.is_called());
}

// The death of the one that is waited for is as good as its timeout, and comes sooner.
void Classic::on_members(const View& view) {
  const bool is_waiting = state_ == ELECTION_STATE_WAITING;
  if (is_waiting && round_.highest_candidate(view) == ELECTION_NOBODY) {
    start(view, round_.is_called());
  }
}

// Step 4.
void Classic::on_election(const View& view, uint32_t /*from*/, bool is_called) {
  if (view.may_lead(view.self())) start(view, is_called);
}

// From a member that still runs the modified variant: it found this one to be the highest.  The
// classic way to make sure of that is an election.
void Classic::on_handover(const View& view, std::span<const election_id> /*asked*/,
                          bool /*is_called*/) {
  if (state_ == ELECTION_STATE_IDLE && !view.has_leader()) start(view, false);
}

// Everybody from the initiator up holds one election.
election_cost Classic::cost(const Case& which) {
  election_cost cost{};
  for (uint32_t member = which.initiator(); member <= which.winner(); ++member) {
    if (which.is_gone(member)) continue;
    cost.election += which.asked_by(member);
    cost.answer += which.living_above(member);
  }
  cost.coordinator = which.told();
  return cost;
}

}  // namespace bellwether::bully
