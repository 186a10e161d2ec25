// An election plugin that does what a test tells it, right or wrong.
#pragma once

#include <bellwether/election_plugin.h>

#include <functional>
#include <vector>

namespace bellwether::tests {

// The answer to one event, as the script fills it.
struct ScriptedAnswer {
  int32_t result = 0;
  uint64_t deadline_ns = ELECTION_NO_DEADLINE;
  std::vector<election_action> actions;
  std::vector<election_id> claim_ids;
  // Overrides what is told of `actions`.
  bool hides_actions = false;

  election_action& add(uint32_t type) {
    election_action& action = actions.emplace_back();
    action = election_action{};
    action.type = type;
    return action;
  }
  election_action& send(uint32_t to, uint32_t kind) {
    election_action& action = add(ELECTION_ACTION_SEND);
    action.to = to;
    action.message.kind = kind;
    return action;
  }
  void claim(std::vector<election_id> silent = {}) {
    claim_ids = std::move(silent);
    election_action& action = add(ELECTION_ACTION_CLAIM);
    action.message.ids = claim_ids.data();
    action.message.id_count = static_cast<uint32_t>(claim_ids.size());
  }
};

using Script = std::function<void(const election_event& event, ScriptedAnswer& answer)>;

// Holds for instances that are made from now on; each test case is one thread.
void set_script(Script script);

const election_plugin& scripted_plugin();

// The config that the last instance was made with, without its pointers; and how many instances
// there are now.
const election_config& last_config();
int living_instances();

}  // namespace bellwether::tests
