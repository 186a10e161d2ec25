// From the host's events to the papers' occasions.
#include "variant.hh"

namespace bellwether::bully {

void Variant::step(const election_event& event, Outbox& outbox) {
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
      if (event.reason == ELECTION_REASON_HEARD) return on_leader_heard(outbox);
      if (view.has_leader()) return become_idle("the leader is known", outbox);
      if (state_ == ELECTION_STATE_CLAIMING) return become_idle("the claim had no effect", outbox);
      return;
    case ELECTION_EVENT_ELECT:
      // One election at a time: a process that is in one, or was asked by somebody lower (the halt
      // flag), waits for its end.
      if (state_ != ELECTION_STATE_IDLE) return;
      return start(view, event.reason == ELECTION_REASON_OPERATOR, outbox);
    case ELECTION_EVENT_STAND_DOWN:
      return become_idle("stood down", outbox);
    default:
      return;  // an event of a later minor version
  }
}

void Variant::on_message(const View& view, uint32_t from, const election_message& message,
                         Outbox& outbox) {
  switch (message.kind) {
    case ELECTION_MESSAGE_ELECTION:
      if (from > view.self()) return;  // a higher rank has nothing to ask here; our lists differ
      return on_election(view, from, message, outbox);
    case ELECTION_MESSAGE_ANSWER:
      return on_answer(view, from, message, outbox);
    case ELECTION_MESSAGE_HANDOVER:
      return on_handover(view, message, outbox);
    default:
      return;
  }
}

void Variant::win(const View& view, const char* why, Outbox& outbox) {
  if (!view.may_lead(view.self())) return become_idle("may not lead itself", outbox);
  become(ELECTION_STATE_CLAIMING, ELECTION_NO_DEADLINE, why, outbox);
  outbox.claim(round_.silent_higher(view));
}

void Variant::become(uint32_t state, uint64_t deadline_ns, const char* why, Outbox& outbox) {
  state_ = state;
  deadline_ns_ = deadline_ns;
  outbox.enter(state, why);
}

void Variant::become_idle(const char* why, Outbox& outbox) {
  if (state_ == ELECTION_STATE_IDLE) return;
  become(ELECTION_STATE_IDLE, ELECTION_NO_DEADLINE, why, outbox);
}

}  // namespace bellwether::bully
