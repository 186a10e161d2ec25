// The scripted plugin: its C face, and the script behind it.
#include "scripted_plugin.hh"

namespace bellwether::tests {
namespace {

Script next_script;
election_config config_of_last{};
int living = 0;

struct Instance {
  Script script;
  ScriptedAnswer answer;
};

Instance& instance(election_instance* self) { return *reinterpret_cast<Instance*>(self); }

election_instance* create(const election_config* config) {
  config_of_last = *config;
  config_of_last.variant = nullptr;
  if (!next_script) return nullptr;
  ++living;
  return reinterpret_cast<election_instance*>(new Instance{.script = next_script, .answer = {}});
}

void destroy(election_instance* self) {
  --living;
  delete &instance(self);
}

int32_t step(election_instance* self, const election_event* event, election_output* output) {
  ScriptedAnswer& answer = instance(self).answer;
  answer = ScriptedAnswer{};
  instance(self).script(*event, answer);
  output->actions = answer.hides_actions ? nullptr : answer.actions.data();
  output->action_count = static_cast<uint32_t>(answer.actions.size());
  output->deadline_ns = answer.deadline_ns;
  return answer.result;
}

const void* extension(const char*) { return nullptr; }

constexpr const char* kVariants[] = {"modified", nullptr};

constexpr election_plugin kPlugin{
    .abi_major = ELECTION_ABI_MAJOR,
    .abi_minor = ELECTION_ABI_MINOR,
    .size = sizeof(election_plugin),
    .reserved = 0,
    .name = "scripted",
    .version = "1",
    .variants = kVariants,
    .create = create,
    .destroy = destroy,
    .step = step,
    .extension = extension,
};

}  // namespace

void set_script(Script script) { next_script = std::move(script); }
const election_plugin& scripted_plugin() { return kPlugin; }
const election_config& last_config() { return config_of_last; }
int living_instances() { return living; }

}  // namespace bellwether::tests
