// Each mutant falsifies one thing on its way between the host and the real plugin.
#include "mutant_plugin.hh"

#include <vector>

namespace bellwether::tests {
namespace {

const election_plugin& real() { return bellwether_election_plugin; }

// What the host holds as an election_instance.
struct Mutant {
  election_instance* instance = nullptr;
  uint32_t state = ELECTION_STATE_IDLE;
  std::vector<election_action> actions;
  std::vector<election_id> everybody;
};

Mutant& mutant(election_instance* self) { return *reinterpret_cast<Mutant*>(self); }

election_instance* create(const election_config* config) {
  auto* made = new Mutant{.instance = real().create(config), .actions = {}, .everybody = {}};
  return reinterpret_cast<election_instance*>(made);
}

void destroy(election_instance* self) {
  real().destroy(mutant(self).instance);
  delete &mutant(self);
}

// The message that hands over names everybody as asked already.
election_event with_everybody_asked(Mutant& self, const election_event& event) {
  self.everybody.clear();
  for (uint32_t i = 0; i < event.member_count; ++i) self.everybody.push_back(event.members[i].id);
  election_event changed = event;
  changed.message.ids = self.everybody.data();
  changed.message.id_count = event.member_count;
  return changed;
}

template <PluginRule kRule>
int32_t step(election_instance* handle, const election_event* event, election_output* output) {
  Mutant& self = mutant(handle);
  const bool is_handover =
      event->type == ELECTION_EVENT_MESSAGE && event->message.kind == ELECTION_MESSAGE_HANDOVER;
  election_event seen = *event;
  if (kRule == PluginRule::kAskStillHigher && is_handover) {
    seen = with_everybody_asked(self, *event);
  }
  const int32_t result = real().step(self.instance, &seen, output);
  self.actions.assign(output->actions, output->actions + output->action_count);
  for (election_action& action : self.actions) {
    if (action.type == ELECTION_ACTION_STATE) self.state = action.state;
    const bool is_answer =
        action.type == ELECTION_ACTION_SEND && action.message.kind == ELECTION_MESSAGE_ANSWER;
    if (kRule == PluginRule::kEchoRound && is_answer) action.message.round = 0;
  }
  output->actions = self.actions.data();
  if (kRule == PluginRule::kHaltTimer && self.state == ELECTION_STATE_HALTED) {
    output->deadline_ns = ELECTION_NO_DEADLINE;
  }
  return result;
}

election_plugin with_step(int32_t (*step)(election_instance*, const election_event*,
                                          election_output*)) {
  election_plugin plugin = real();
  plugin.name = "mutant";
  plugin.create = create;
  plugin.destroy = destroy;
  plugin.step = step;
  return plugin;
}

}  // namespace

const election_plugin& plugin_without(PluginRule rule) {
  static const election_plugin halt = with_step(step<PluginRule::kHaltTimer>);
  static const election_plugin echo = with_step(step<PluginRule::kEchoRound>);
  static const election_plugin ask = with_step(step<PluginRule::kAskStillHigher>);
  switch (rule) {
    case PluginRule::kHaltTimer:
      return halt;
    case PluginRule::kEchoRound:
      return echo;
    case PluginRule::kAskStillHigher:
      return ask;
  }
  return real();
}

}  // namespace bellwether::tests
