// The classic variant; classic.hh tells the algorithm in four steps.
#include "classic.hh"

namespace bellwether::bully {
namespace {

constexpr const char* kWon = "no higher rank answered";

}  // namespace

// Who is asked answers at once and then holds an election itself.
void Classic::on_election(const View& view, uint32_t from, const election_message& election,
                          Outbox& outbox) {
  const bool is_electable = view.may_lead(view.self());
  const bool is_in = takes_part(view, election, settings_.sticky);
  outbox.send_answer(from, election.round, is_electable, is_in);
  // One election per process, however many lower ranks ask for one.
  if (is_in && is_electable && state_ == ELECTION_STATE_IDLE) {
    start(view, (election.flags & ELECTION_FLAG_CALLED) != 0, outbox);
  }
}

void Classic::on_answer(const View& view, uint32_t from, const election_message& answer,
                        Outbox& outbox) {
  const bool electable = (answer.flags & ELECTION_FLAG_ELECTABLE) != 0;
  if (!round_.record_answer(view.id(from), answer.round, electable)) return;
  if (state_ != ELECTION_STATE_COLLECTING) return;
  if (electable) {
    return become(ELECTION_STATE_WAITING, view.now_ns() + settings_.coordinator_timeout_ns,
                  "a higher rank answered", outbox);
  }
  if (round_.is_complete()) win(view, kWon, outbox);
}

// From a member that still runs the modified variant: it found this one to be the highest.  The
// classic way to make sure of that is an election.
void Classic::on_handover(const View& view, const election_message&, Outbox& outbox) {
  if (state_ == ELECTION_STATE_IDLE && !view.has_leader()) start(view, false, outbox);
}

void Classic::on_timeout(const View& view, Outbox& outbox) {
  if (state_ == ELECTION_STATE_COLLECTING) return win(view, kWon, outbox);
  if (state_ != ELECTION_STATE_WAITING) return;
  // Who answered did not take over, and there is a leader (this process came up under it): a member
  // with the modified variant only waited to be handed over to.  The next question ends no better.
  if (view.has_leader() && !round_.is_called()) return become_idle("the leader stays", outbox);
  start(view, round_.is_called(), outbox);
}

// The death of the one that is waited for is as good as its timeout, and comes sooner.
void Classic::on_members(const View& view, Outbox& outbox) {
  if (state_ == ELECTION_STATE_COLLECTING) {
    round_.ask_higher(view, outbox);
    if (round_.is_complete()) win(view, kWon, outbox);
  } else if (state_ == ELECTION_STATE_WAITING) {
    if (round_.highest_candidate(view) == ELECTION_NOBODY) start(view, round_.is_called(), outbox);
  }
}

void Classic::start(const View& view, bool is_called, Outbox& outbox) {
  round_.begin(view, {}, is_called);
  become(ELECTION_STATE_COLLECTING, view.now_ns() + settings_.answer_timeout_ns,
         "asks the higher ranks", outbox);
  round_.ask_higher(view, outbox);
  // The highest announces at once.
  if (round_.is_complete()) win(view, kWon, outbox);
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
