/* A plugin that claims when it is first asked for an election and, asked again, waits for ever:
 * what it takes to break an invariant of the sidecar from outside.  Others may follow its leader,
 * with a plugin that works. */
#include <bellwether/election_plugin.h>
#include <stdlib.h>

struct election_instance {
  int elections;
  election_action action;
};

static election_instance* create(const election_config* config) {
  (void)config;
  return calloc(1, sizeof(election_instance));
}

static void destroy(election_instance* self) { free(self); }

static int32_t step(election_instance* self, const election_event* event, election_output* output) {
  output->deadline_ns = ELECTION_NO_DEADLINE;
  if (event->type != ELECTION_EVENT_ELECT) return 0;
  self->action = (election_action){.type = ELECTION_ACTION_CLAIM};
  if (++self->elections > 1) {
    self->action.type = ELECTION_ACTION_STATE;
    self->action.state = ELECTION_STATE_WAITING;
    self->action.text = "waits for nothing";
  }
  output->actions = &self->action;
  output->action_count = 1;
  return 0;
}

static const void* extension(const char* id) {
  (void)id;
  return NULL;
}

static const char* const variants[] = {"only", NULL};

const election_plugin bellwether_election_plugin = {
    .abi_major = ELECTION_ABI_MAJOR,
    .abi_minor = ELECTION_ABI_MINOR,
    .size = sizeof(election_plugin),
    .name = "waiting",
    .version = "1",
    .variants = variants,
    .create = create,
    .destroy = destroy,
    .step = step,
    .extension = extension,
};
