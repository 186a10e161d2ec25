// The classic variant; classic.hh tells the algorithm in four steps.
#include "classic.hh"

namespace bellwether::bully {

Classic::Classic(const Settings& settings)
    : settings_(settings),
      round_(settings.first_round, settings.ask_suspected),
      state_(ELECTION_STATE_IDLE),
      deadline_ns_(ELECTION_NO_DEADLINE) {}

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

void Classic::step(const election_event& event, Outbox& outbox) {
  const View view(event);
  switch (event.type) {
    case ELECTION_EVENT_MESSAGE:
      return on_message(view, event.from, event.message, outbox);
    case ELECTION_EVENT_TIMEOUT:
      return on_timeout(view, outbox);
    case ELECTION_EVENT_MEMBERS:
      return on_members(view, outbox);
    case ELECTION_EVENT_LEADER:
      // That the old leader is heard does not end an election against it; only its word does.
      if (event.reason == ELECTION_REASON_HEARD) return;
      if (view.has_leader()) return become_idle("the leader is known", outbox);
      if (state_ == ELECTION_STATE_CLAIMING) return become_idle("the claim had no effect", outbox);
      return;
    case ELECTION_EVENT_ELECT:
      // One election at a time: who is in one waits for its end.
      if (state_ == ELECTION_STATE_IDLE) {
        start(view, event.reason == ELECTION_REASON_OPERATOR, outbox);
      }
      return;
    case ELECTION_EVENT_STAND_DOWN:
      return become_idle("stood down", outbox);
    default:
      return;  // an event of a later minor version
  }
}

void Classic::on_message(const View& view, uint32_t from, const election_message& message,
                         Outbox& outbox) {
  switch (message.kind) {
    case ELECTION_MESSAGE_ELECTION:
      return on_election(view, from, message, outbox);
    case ELECTION_MESSAGE_ANSWER:
      return on_answer(view, from, message, outbox);
    case ELECTION_MESSAGE_HANDOVER:
      // From a member that still runs the modified variant: it found this one to be the highest.
      // The classic way to make sure of that is an election.
      if (state_ == ELECTION_STATE_IDLE && !view.has_leader()) start(view, false, outbox);
      return;
    default:
      return;
  }
}

// Who is asked answers at once and then holds an election itself.
void Classic::on_election(const View& view, uint32_t from, const election_message& election,
                          Outbox& outbox) {
  if (from > view.self()) return;  // a higher rank has nothing to ask here; our lists differ
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
  if (round_.is_complete()) win(view, outbox);
}

void Classic::on_timeout(const View& view, Outbox& outbox) {
  if (state_ == ELECTION_STATE_COLLECTING) return win(view, outbox);
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
    if (round_.is_complete()) win(view, outbox);
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
  if (round_.is_complete()) win(view, outbox);
}

void Classic::win(const View& view, Outbox& outbox) {
  if (!view.may_lead(view.self())) return become_idle("may not lead itself", outbox);
  become(ELECTION_STATE_CLAIMING, ELECTION_NO_DEADLINE, "no higher rank answered", outbox);
  outbox.claim(round_.silent_higher(view));
}

void Classic::become(uint32_t state, uint64_t deadline_ns, const char* why, Outbox& outbox) {
  state_ = state;
  deadline_ns_ = deadline_ns;
  outbox.enter(state, why);
}

void Classic::become_idle(const char* why, Outbox& outbox) {
  if (state_ != ELECTION_STATE_IDLE) {
    become(ELECTION_STATE_IDLE, ELECTION_NO_DEADLINE, why, outbox);
  }
}

}  // namespace bellwether::bully
