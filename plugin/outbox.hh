// The actions of one step, in the order in which the host shall carry them out.  The memory is kept
// from step to step; the host reads it until the next one.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bellwether::bully {

class Outbox {
 public:
  void clear() { actions_.clear(); }
  std::span<const election_action> actions() const { return actions_; }

  void send_election(uint32_t to, uint64_t round, bool is_called) {
    send(to, ELECTION_MESSAGE_ELECTION, is_called ? ELECTION_FLAG_CALLED : 0, round);
  }

  void send_answer(uint32_t to, uint64_t round, bool is_electable, bool takes_part) {
    const uint32_t flags = (is_electable ? uint32_t{ELECTION_FLAG_ELECTABLE} : 0) |
                           (takes_part ? uint32_t{ELECTION_FLAG_TAKES_PART} : 0);
    send(to, ELECTION_MESSAGE_ANSWER, flags, round);
  }

  // `asked` must stay as it is until the next step.
  void send_handover(uint32_t to, uint64_t round, bool is_called,
                     std::span<const election_id> asked) {
    const uint32_t flags = is_called ? ELECTION_FLAG_CALLED : 0;
    set_ids(send(to, ELECTION_MESSAGE_HANDOVER, flags, round), asked);
  }

  // `silent` (who did not answer; need not be told) must stay as it is until the next step.
  void claim(std::span<const election_id> silent) { set_ids(add(ELECTION_ACTION_CLAIM), silent); }

  // `text` is a static string: it serves as log line, history and trace.
  void enter(uint32_t state, const char* text) {
    election_action& action = add(ELECTION_ACTION_STATE);
    action.state = state;
    action.text = text;
  }

 private:
  election_action& add(uint32_t type) {
    election_action& action = actions_.emplace_back();
    action.type = type;
    return action;
  }

  election_action& send(uint32_t to, uint32_t kind, uint32_t flags, uint64_t round) {
    election_action& action = add(ELECTION_ACTION_SEND);
    action.to = to;
    action.message.kind = kind;
    action.message.flags = flags;
    action.message.round = round;
    return action;
  }

  static void set_ids(election_action& action, std::span<const election_id> ids) {
    action.message.ids = ids.data();
    action.message.id_count = static_cast<uint32_t>(ids.size());
  }

  std::vector<election_action> actions_;
};

}  // namespace bellwether::bully
