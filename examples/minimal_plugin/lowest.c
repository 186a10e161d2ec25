/* bellwether-lowest.so: the smallest election plugin there is.  The lowest living rank leads.
 *
 * No message is sent: every process sees the same list of members, with the host's marks, and draws
 * the same conclusion from it.  Where the marks of two processes differ for a while, both may
 * claim; the host's guard then decides whose claim becomes effective.  A leader that lives stays:
 * who comes back with a lower rank waits for the next election. */
#include <bellwether/election_plugin.h>
#include <stdlib.h>

/* All that this rule has to remember between two events. */
struct election_instance {
  uint64_t patience_ns; /* how long to wait for somebody else's claim before looking again */
  uint64_t deadline_ns; /* when to look again, or ELECTION_NO_DEADLINE */
  uint32_t state;       /* ELECTION_STATE_* */
  uint32_t action_count;
  election_action actions[2]; /* of the last step, a state and a claim; read until the next */
};

static election_instance* create(const election_config* config) {
  election_instance* self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->patience_ns = config->coordinator_timeout_ns;
  self->deadline_ns = ELECTION_NO_DEADLINE;
  self->state = ELECTION_STATE_IDLE;
  return self;
}

static void destroy(election_instance* self) { free(self); }

static election_action* add_action(election_instance* self, uint32_t type) {
  election_action* action = &self->actions[self->action_count++];
  *action = (election_action){.type = type};
  return action;
}

static void enter(election_instance* self, uint32_t state, uint64_t deadline_ns, const char* why) {
  self->deadline_ns = deadline_ns;
  if (self->state == state) return;
  self->state = state;
  election_action* action = add_action(self, ELECTION_ACTION_STATE);
  action->state = state;
  action->text = why;
}

/* The members come in ascending rank, so the first that can lead is the one that shall. */
static uint32_t lowest_candidate(const election_event* event) {
  for (uint32_t i = 0; i < event->member_count; ++i) {
    const uint32_t marks = event->members[i].marks;
    const int may_lead = (marks & ELECTION_MEMBER_ELECTABLE) != 0;
    const int is_alive = (marks & ELECTION_MEMBER_SUSPECT) == 0;
    if (may_lead && is_alive) return i;
  }
  return ELECTION_NOBODY;
}

static void look(election_instance* self, const election_event* event) {
  if (lowest_candidate(event) == event->self) {
    enter(self, ELECTION_STATE_CLAIMING, ELECTION_NO_DEADLINE, "is the lowest living rank");
    add_action(self, ELECTION_ACTION_CLAIM);
  } else {
    /* Whoever should lead may die before it does: without a deadline we would wait for ever. */
    enter(self, ELECTION_STATE_WAITING, event->now_ns + self->patience_ns,
          "somebody else shall lead");
  }
}

static void finish(election_instance* self, const char* why) {
  enter(self, ELECTION_STATE_IDLE, ELECTION_NO_DEADLINE, why);
}

static void handle(election_instance* self, const election_event* event) {
  if (event->leader != ELECTION_NOBODY) {
    finish(self, "the leader is known");
    return;
  }
  switch (event->type) {
    case ELECTION_EVENT_ELECT:
      if (self->state == ELECTION_STATE_IDLE) look(self, event);
      return;
    case ELECTION_EVENT_MEMBERS:
    case ELECTION_EVENT_TIMEOUT:
      if (self->state == ELECTION_STATE_WAITING) look(self, event);
      return;
    case ELECTION_EVENT_LEADER:
      if (self->state == ELECTION_STATE_CLAIMING) finish(self, "the claim had no effect");
      return;
    case ELECTION_EVENT_STAND_DOWN:
      finish(self, "stood down");
      return;
    default: /* MESSAGE, which nobody sends here, and events of later versions */
      return;
  }
}

static int32_t step(election_instance* self, const election_event* event, election_output* output) {
  self->action_count = 0;
  handle(self, event);
  output->actions = self->actions;
  output->action_count = self->action_count;
  output->deadline_ns = self->deadline_ns; /* every step says it anew */
  return 0;
}

static const void* extension(const char* id) {
  (void)id;
  return NULL;
}

static const char* const variants[] = {"lowest", NULL};

const election_plugin bellwether_election_plugin = {
    .abi_major = ELECTION_ABI_MAJOR,
    .abi_minor = ELECTION_ABI_MINOR,
    .size = sizeof(election_plugin),
    .name = "lowest",
    .version = "1.0.0",
    .variants = variants,
    .create = create,
    .destroy = destroy,
    .step = step,
    .extension = extension,
};
