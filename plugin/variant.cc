// From the host's events to the papers' occasions.
#include "variant.hh"

namespace bellwether::bully {

Variant::Variant(const election_config& config)
    : answer_timeout_ns_(config.answer_timeout_ns),
      coordinator_timeout_ns_(config.coordinator_timeout_ns),
      round_(config.first_round, (config.flags & ELECTION_CONFIG_ASK_SUSPECTED) != 0),
      is_sticky_((config.flags & ELECTION_CONFIG_STICKY) != 0) {}

std::span<const election_action> Variant::step(const election_event& event) {
  const View view(event);
  const bool is_collecting = state_ == ELECTION_STATE_COLLECTING;
  outbox_.clear();
  switch (event.type) {
    case ELECTION_EVENT_MESSAGE:
      on_message(view, event.from, event.message);
      break;
    case ELECTION_EVENT_TIMEOUT:
      is_collecting ? conclude(view) : on_timeout(view);
      break;
    case ELECTION_EVENT_MEMBERS:
      is_collecting ? collect(view) : on_members(view);
      break;
    case ELECTION_EVENT_LEADER:
      on_leader(view, event.reason);
      break;
    case ELECTION_EVENT_ELECT:
      // One election at a time: a process that is in one, or was asked by somebody lower (the halt
      // flag), waits for its end.
      if (state_ == ELECTION_STATE_IDLE) start(view, event.reason == ELECTION_REASON_OPERATOR);
      break;
    case ELECTION_EVENT_STAND_DOWN:
      become_idle("stood down");
      break;
    default:
      break;  // an event of a later minor version
  }
  return outbox_.actions();
}

void Variant::on_message(const View& view, uint32_t from, const election_message& message) {
  const bool is_called = (message.flags & ELECTION_FLAG_CALLED) != 0;
  const bool is_electable = (message.flags & ELECTION_FLAG_ELECTABLE) != 0;
  switch (message.kind) {
    case ELECTION_MESSAGE_ELECTION: {
      const bool is_asked = from < view.self();
      const bool is_in = takes_part(view, is_called);
      const bool is_ahead = is_asked || is_ahead_of_higher(view, from);
      outbox_.send_answer(from, message.round, is_ahead && view.may_lead(view.self()), is_in);
      // One election per process, however many lower ranks ask for one.
      if (is_asked && is_in && state_ == ELECTION_STATE_IDLE) on_election(view, from, is_called);
      return;
    }
    case ELECTION_MESSAGE_ANSWER:
      if (!round_.record_answer(view.id(from), message.round, is_electable)) return;
      // A member that has fallen below this one since it was asked is not waited for.
      if (is_electable && from > view.self() && state_ == ELECTION_STATE_COLLECTING) {
        on_candidate(view);
      }
      if (round_.is_complete() && state_ == ELECTION_STATE_COLLECTING) conclude(view);
      return;
    case ELECTION_MESSAGE_HANDOVER:
      return on_handover(view, {message.ids, message.id_count}, is_called);
    default:
      return;
  }
}

// That the old leader is heard does not end an election against it; only its word does.
void Variant::on_leader(const View& view, uint32_t reason) {
  if (reason == ELECTION_REASON_HEARD) return on_leader_heard();
  if (view.has_leader()) return become_idle("the leader is known");
  if (state_ == ELECTION_STATE_CLAIMING) become_idle("the claim had no effect");
}

// A leader need not be elected again, and who hears one (if sticky) has no need of another: the
// host's ANSWER names the leader, and the one that asked follows it.
bool Variant::takes_part(const View& view, bool is_called) const {
  return is_called || (!view.leads() && !(is_sticky_ && view.has_leader()));
}

// By the list here a higher rank has nothing to ask; by its own it waits for a word.  If this one
// waits for that one's, too, each ranks the other higher, and their ids decide which of them leads.
bool Variant::is_ahead_of_higher(const View& view, uint32_t other) const {
  return state_ == ELECTION_STATE_COLLECTING && is_before(view.id(other), view.id(view.self()));
}

void Variant::start(const View& view, bool is_called, std::span<const election_id> asked_already) {
  round_.begin(view, asked_already, is_called);
  become(ELECTION_STATE_COLLECTING, view.now_ns() + answer_timeout_ns_, "asks the higher ranks");
  collect(view);
}

// The highest, which has nobody to ask, is done at once; and the death of the one that is waited
// for is as good as its timeout, and comes sooner.
void Variant::collect(const View& view) {
  round_.ask_higher(view, outbox_);
  if (round_.is_complete()) conclude(view);
}

void Variant::win(const View& view, const char* why) {
  if (!view.may_lead(view.self())) return become_idle("may not lead itself");
  become(ELECTION_STATE_CLAIMING, ELECTION_NO_DEADLINE, why);
  outbox_.claim(round_.silent_higher(view));
}

void Variant::become(uint32_t state, uint64_t deadline_ns, const char* why) {
  state_ = state;
  deadline_ns_ = deadline_ns;
  outbox_.enter(state, why);
}

void Variant::become_idle(const char* why) {
  if (state_ != ELECTION_STATE_IDLE) become(ELECTION_STATE_IDLE, ELECTION_NO_DEADLINE, why);
}

}  // namespace bellwether::bully
