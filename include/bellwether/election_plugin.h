/* The interface between Bellwether and an election plugin: a C ABI for C11 and C++.
 *
 * A plugin decides one thing only: when does this process propose itself as leader?  The host (the
 * sidecar, or the simulator) tells it what happened, one event at a time, and carries out the
 * actions it answers with, in order.  The plugin sees no socket, clock, disk, thread or epoch, and
 * calls nothing back; so it can be read beside the paper it implements and run in virtual time.
 *
 * A plugin is a shared library that exports one constant symbol, `bellwether_election_plugin`.
 * Ownership in one sentence: every pointer that crosses is borrowed; the host's are valid until the
 * call returns, the plugin's until the next call on the same instance.
 * Threads: the calls on one instance never overlap, but may come from different threads; two
 * instances may run at the same time, so a plugin keeps no mutable global state.
 * Errors: no exception and no longjmp leaves a plugin; failures are return values.
 *
 * Evolution: the first eight bytes of election_plugin never change.  Within one major version
 * fields are only appended to election_plugin and election_config (`size` says what is there), the
 * sizes of events and actions are frozen, and reserved fields, always 0 when not known, gain
 * meanings.  A plugin ignores events it does not know; the host stops at an action it does not
 * know, because to skip what one does not understand would be worse. */
#ifndef BELLWETHER_ELECTION_PLUGIN_H
#define BELLWETHER_ELECTION_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bumped when an older plugin could no longer work. */
#define ELECTION_ABI_MAJOR 1u
/* Bumped when something was appended. */
#define ELECTION_ABI_MINOR 0u

/* An index that names no member. */
#define ELECTION_NOBODY UINT32_MAX
/* A deadline that never comes. */
#define ELECTION_NO_DEADLINE UINT64_MAX

/* A process: a UUID version 4 as 16 unsigned bytes, in the order in which it is printed. */
typedef struct election_id {
  uint8_t bytes[16];
} election_id;

/* What the host knows of a member; 32 bytes, frozen. */
typedef struct election_member {
  election_id id;
  uint32_t priority; /* the first part of its rank; all of it is its place in the list */
  uint32_t marks;    /* ELECTION_MEMBER_*, or'ed */
  uint64_t reserved;
} election_member;

enum {
  /* The host has evidence against this member (silence, a lost connection): do not wait for it. */
  ELECTION_MEMBER_SUSPECT = 1u << 0,
  /* The member may lead, as far as the host knows.  On the member itself: it may claim now. */
  ELECTION_MEMBER_ELECTABLE = 1u << 1
};

/* What two plugins of one group say to each other; 32 bytes, frozen.  The host carries it and adds
 * sender and epoch.  Kinds and flags not listed here are carried unchanged within their ranges.  Of
 * those listed, the host reads the flags of ANSWER; it drops CALLED from messages, and whole
 * HANDOVERs, that a later claim has overtaken; and for a process that has said that it cannot lead,
 * and now can, it answers ELECTION itself, as before, until the election is over. */
typedef struct election_message {
  uint32_t kind;  /* ELECTION_MESSAGE_* */
  uint32_t flags; /* ELECTION_FLAG_*, or'ed */
  uint64_t round; /* chosen by the initiator and echoed in every reply, so that a late reply to an
                     earlier round cannot be mistaken for one to this */
  const election_id* ids; /* NULL when id_count is 0 */
  uint32_t id_count;      /* at most ELECTION_MESSAGE_MAX_IDS */
  uint32_t reserved;
} election_message;

enum {
  ELECTION_MESSAGE_ELECTION = 1, /* "I hold an election; are you there?", to a higher rank */
  ELECTION_MESSAGE_ANSWER = 2,   /* "I am", to the initiator (the papers also say OK) */
  ELECTION_MESSAGE_HANDOVER = 3, /* "you are the highest that answered"; ids: those asked so far */
  /* COORDINATOR is not here: the host sends it when it carries out ELECTION_ACTION_CLAIM. */
  ELECTION_MESSAGE_FIRST_PRIVATE = 16, /* 16 to 31: the plugin's own */
  ELECTION_MESSAGE_LAST_PRIVATE = 31
};

enum { ELECTION_MESSAGE_MAX_IDS = 1000 };

enum {
  ELECTION_FLAG_ELECTABLE = 1u << 0, /* on ANSWER: the sender may lead */
  /* On ANSWER: the sender takes part in this election.  Without it the sender stays with its
   * leader, whom the host names in the same frame. */
  ELECTION_FLAG_TAKES_PART = 1u << 1,
  /* On ELECTION and HANDOVER: somebody called for this election (ELECTION_REASON_OPERATOR), so take
   * part even when there is a leader. */
  ELECTION_FLAG_CALLED = 1u << 2
};

/* What happened. */
enum {
  ELECTION_EVENT_MESSAGE = 1, /* `message` came from `from` */
  ELECTION_EVENT_TIMEOUT = 2, /* the deadline of the last step has passed */
  ELECTION_EVENT_MEMBERS = 3, /* the list, a rank, or a mark of another changed */
  ELECTION_EVENT_LEADER = 4, /* `leader` changed, or was confirmed (reason says why); ends a running
                                election when there is one now, except with reason HEARD */
  ELECTION_EVENT_ELECT = 5,  /* hold an election now, unless one is running (reason says why);
                                OUTRANKS and OPERATOR come while there is a leader, too */
  ELECTION_EVENT_STAND_DOWN = 6 /* give up a running election; another will be asked for */
};

/* Why. */
enum {
  ELECTION_REASON_NONE = 0,
  ELECTION_REASON_STARTED = 1,        /* this process came up and found no leader */
  ELECTION_REASON_LEADER_LOST = 2,    /* the leader is suspected or known to be dead */
  ELECTION_REASON_RESIGNED = 3,       /* the leader said that it leads no longer */
  ELECTION_REASON_OUTRANKS = 4,       /* this process outranks the leader and may take over */
  ELECTION_REASON_OPERATOR = 5,       /* somebody asked for it */
  ELECTION_REASON_RETRY = 6,          /* an earlier election ended without a leader */
  ELECTION_REASON_ANNOUNCED = 7,      /* a COORDINATOR, or a leader's heartbeat, named the leader */
  ELECTION_REASON_CLAIMED = 8,        /* this process leads: its claim is effective */
  ELECTION_REASON_CLAIM_REFUSED = 9,  /* this process does not lead: its claim was refused */
  ELECTION_REASON_STEPPED_DOWN = 10,  /* this process gave up leading */
  ELECTION_REASON_LEADER_EXISTS = 11, /* others hear a leader that this process does not hear */
  ELECTION_REASON_HEARD = 12 /* the leader was heard by heartbeat while an election runs: whoever
                                suspects it may be wrong */
};

/* One event; 128 bytes, frozen.  `members`, `self` and `leader` are filled in every event with the
 * host's knowledge at this moment, so a plugin keeps no copy of them. */
typedef struct election_event {
  uint32_t type;                  /* ELECTION_EVENT_* */
  uint32_t reason;                /* ELECTION_REASON_* */
  uint64_t now_ns;                /* a clock that never goes back; its zero is unspecified */
  const election_member* members; /* all members in ascending rank, this process among them */
  uint32_t member_count;
  uint32_t self;            /* index of this process in members */
  uint32_t leader;          /* index of the leader this process follows or is, or ELECTION_NOBODY */
  uint32_t from;            /* MESSAGE: index of the sender; otherwise ELECTION_NOBODY */
  election_message message; /* MESSAGE only; otherwise zeros */
  uint64_t reserved[7];
} election_event;

/* What to do. */
enum {
  ELECTION_ACTION_SEND =
      1, /* send `message` to members[to]; loss is possible, nothing is repeated */
  ELECTION_ACTION_CLAIM = 2, /* this process won: the host announces it (COORDINATOR) to the living
                                others and makes it effective as soon as that is safe.  LEADER
                                always tells the outcome; after a refusal the host asks for another
                                election later.  At most one in a step; it is carried out last.
                                message.ids: members that this election found silent, so that no
                                COORDINATOR is wasted on them */
  ELECTION_ACTION_STATE = 3  /* for people: `state` was entered because of `text` */
};

/* States, for logs, traces and metrics.  The host decides one thing by them: a process keeps its
 * rank while it is in an election, and a new score counts when it is IDLE again or, but for
 * COLLECTING, at its next deadline.  So no plugin collects without end. */
enum {
  ELECTION_STATE_IDLE = 0,       /* no election known here */
  ELECTION_STATE_COLLECTING = 1, /* asked the higher ranks, waits for their answers */
  ELECTION_STATE_WAITING = 2,    /* somebody higher took over, waits for COORDINATOR */
  ELECTION_STATE_HALTED = 3,     /* a lower rank collects; starts nothing meanwhile */
  ELECTION_STATE_CLAIMING = 4    /* claimed, waits for the outcome */
};

/* One action; 64 bytes, frozen. */
typedef struct election_action {
  uint32_t type; /* ELECTION_ACTION_* */
  uint32_t to;   /* SEND: an index into the members of the event that is being answered */
  election_message message; /* SEND; CLAIM: the ids alone */
  uint32_t state;           /* STATE: ELECTION_STATE_* */
  uint32_t reserved0;
  const char* text; /* STATE: a static string, one phrase in plain words; never NULL */
  uint64_t reserved;
} election_action;

/* The answer to one event; 64 bytes, frozen.  The host passes it with no actions and no deadline.
 */
typedef struct election_output {
  const election_action* actions; /* the plugin's memory; carried out in order */
  uint32_t action_count;
  uint32_t reserved0;
  uint64_t deadline_ns; /* when TIMEOUT shall come, on the clock of now_ns.  Every step states it
                           anew: a step that says nothing disarms it.  A deadline also tells the
                           host that an election is running here: without one, and without a
                           leader, it asks for another (RETRY) */
  uint64_t reserved[5];
} election_output;

/* How an instance is set up; grows at its end only. */
typedef struct election_config {
  uint32_t size;                   /* sizeof(election_config) as the host knows it */
  uint32_t flags;                  /* ELECTION_CONFIG_*, or'ed */
  election_id self;                /* this process */
  const char* variant;             /* one of election_plugin.variants */
  uint64_t answer_timeout_ns;      /* how long an ANSWER may take (T of the papers) */
  uint64_t coordinator_timeout_ns; /* how long a COORDINATOR may take after an ANSWER */
  uint64_t first_round;            /* rounds count from here; differs at every process start */
} election_config;

enum {
  /* A process that hears a leader answers ELECTION but starts nothing (the papers do not have
   * this). */
  ELECTION_CONFIG_STICKY = 1u << 0,
  /* Ask suspected members too, without waiting for them (the papers do; it costs messages only). */
  ELECTION_CONFIG_ASK_SUSPECTED = 1u << 1
};

/* One process's election; what is in it is the plugin's business. */
typedef struct election_instance election_instance;

/* The exported description of a plugin; grows at its end only.  No pointer in it is NULL, and the
 * symbol is at least `size` bytes of data. */
typedef struct election_plugin {
  uint32_t abi_major;  /* ELECTION_ABI_MAJOR; these eight bytes are frozen for ever and are read */
  uint32_t abi_minor;  /* ELECTION_ABI_MINOR; before anything else of the library is used */
  uint32_t size;       /* sizeof(election_plugin) as the plugin knows it */
  uint32_t reserved;   /* 0 */
  const char* name;    /* as in `[election] plugin = "..."`; not empty */
  const char* version; /* of the plugin; for people */
  const char* const* variants; /* at least one name, none empty or twice, closed by NULL; the first
                                  is the original, which profile "textbook" means, the last what a
                                  host uses unless told otherwise */

  /* Makes an instance in ELECTION_STATE_IDLE; NULL when it cannot (no memory, bad config). */
  election_instance* (*create)(const election_config* config);

  /* Ends an instance; `self` came from create of the same plugin. */
  void (*destroy)(election_instance* self);

  /* Handles one event and fills `output`.  Returns 0, or a negative number when the instance cannot
   * go on; the host then stops with an error. */
  int32_t (*step)(election_instance* self, const election_event* event, election_output* output);

  /* An optional interface by name and revision (ELECTION_COST_EXTENSION); NULL when unknown. */
  const void* (*extension)(const char* id);
} election_plugin;

/* --- Optional: what an election costs, extension(ELECTION_COST_EXTENSION) ---
 *
 * A closed form beside each algorithm, so that variants can be compared before anybody switches.
 * Nothing depends on it: of a plugin without it the host shows no such numbers. */
#define ELECTION_COST_EXTENSION "bellwether.cost/1"

/* An election to be priced: nobody leads, one member begins, nobody joins, leaves or is late while
 * it runs.  64 bytes, frozen; the host's memory, valid until the call returns. */
typedef struct election_case {
  const election_member* members; /* all members in ascending rank; SUSPECT: this one is gone */
  uint32_t member_count;
  uint32_t initiator; /* index of the member that begins; it is not gone */
  uint32_t lost; /* index of a member that is gone, as only the initiator has noticed, like a leader
                    that died; or ELECTION_NOBODY.  Of all others that are gone everybody knows */
  uint32_t flags; /* ELECTION_CASE_*, or'ed */
  uint64_t reserved[5];
} election_case;

enum {
  /* The group elects with ELECTION_CONFIG_ASK_SUSPECTED. */
  ELECTION_CASE_ASK_SUSPECTED = 1u << 0
};

/* How many messages it takes, by kind; an attempt to send counts.  64 bytes, frozen. */
typedef struct election_cost {
  uint64_t election;
  uint64_t answer;
  uint64_t handover;
  uint64_t coordinator;      /* what the host sends when it carries out the claims */
  uint64_t private_messages; /* of the plugin's own kinds */
  uint64_t reserved[3];
} election_cost;

/* What the extension is: constant data of the plugin, valid as long as the plugin is loaded; grows
 * at its end only. */
typedef struct election_cost_extension {
  uint32_t size;     /* sizeof(election_cost_extension) as the plugin knows it */
  uint32_t reserved; /* 0 */

  /* Fills `cost`, which the host passes as zeros, for `variant`, one of election_plugin.variants.
   * Returns 0, or a negative number when it cannot tell.  It belongs to no instance: it may be
   * called at any time and from any thread, also while others are in it. */
  int32_t (*messages)(const char* variant, const election_case* which, election_cost* cost);
} election_cost_extension;

/* What a plugin defines, and the host looks up under this name. */
#define ELECTION_PLUGIN_SYMBOL "bellwether_election_plugin"
#if defined(__GNUC__)
#define ELECTION_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define ELECTION_PLUGIN_EXPORT
#endif
extern ELECTION_PLUGIN_EXPORT const election_plugin bellwether_election_plugin;

/* The layout, so that no compiler and no edit can change it unnoticed. */
#ifdef __cplusplus
#define ELECTION_ASSERT(condition, text) static_assert(condition, text)
#else
#define ELECTION_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define ELECTION_ASSERT_OFFSET(type, field, offset) \
  ELECTION_ASSERT(offsetof(type, field) == (offset), #type "." #field " has moved")
#define ELECTION_ASSERT_SIZE(type, bytes) \
  ELECTION_ASSERT(sizeof(type) == (bytes), #type " has another size")

ELECTION_ASSERT(sizeof(void*) == 8, "the plugin ABI is defined for 64-bit pointers");
ELECTION_ASSERT_SIZE(election_id, 16);
ELECTION_ASSERT_SIZE(election_member, 32);
ELECTION_ASSERT_OFFSET(election_member, priority, 16);
ELECTION_ASSERT_OFFSET(election_member, marks, 20);
ELECTION_ASSERT_SIZE(election_message, 32);
ELECTION_ASSERT_OFFSET(election_message, flags, 4);
ELECTION_ASSERT_OFFSET(election_message, round, 8);
ELECTION_ASSERT_OFFSET(election_message, ids, 16);
ELECTION_ASSERT_OFFSET(election_message, id_count, 24);
ELECTION_ASSERT_SIZE(election_event, 128);
ELECTION_ASSERT_OFFSET(election_event, reason, 4);
ELECTION_ASSERT_OFFSET(election_event, now_ns, 8);
ELECTION_ASSERT_OFFSET(election_event, members, 16);
ELECTION_ASSERT_OFFSET(election_event, member_count, 24);
ELECTION_ASSERT_OFFSET(election_event, self, 28);
ELECTION_ASSERT_OFFSET(election_event, leader, 32);
ELECTION_ASSERT_OFFSET(election_event, from, 36);
ELECTION_ASSERT_OFFSET(election_event, message, 40);
ELECTION_ASSERT_SIZE(election_action, 64);
ELECTION_ASSERT_OFFSET(election_action, to, 4);
ELECTION_ASSERT_OFFSET(election_action, message, 8);
ELECTION_ASSERT_OFFSET(election_action, state, 40);
ELECTION_ASSERT_OFFSET(election_action, text, 48);
ELECTION_ASSERT_SIZE(election_output, 64);
ELECTION_ASSERT_OFFSET(election_output, action_count, 8);
ELECTION_ASSERT_OFFSET(election_output, deadline_ns, 16);
ELECTION_ASSERT_SIZE(election_config, 56);
ELECTION_ASSERT_OFFSET(election_config, self, 8);
ELECTION_ASSERT_OFFSET(election_config, variant, 24);
ELECTION_ASSERT_OFFSET(election_config, first_round, 48);
ELECTION_ASSERT_SIZE(election_plugin, 72);
ELECTION_ASSERT_OFFSET(election_plugin, abi_major, 0);
ELECTION_ASSERT_OFFSET(election_plugin, abi_minor, 4);
ELECTION_ASSERT_OFFSET(election_plugin, size, 8);
ELECTION_ASSERT_OFFSET(election_plugin, name, 16);
ELECTION_ASSERT_OFFSET(election_plugin, create, 40);
ELECTION_ASSERT_OFFSET(election_plugin, extension, 64);
ELECTION_ASSERT_SIZE(election_case, 64);
ELECTION_ASSERT_OFFSET(election_case, member_count, 8);
ELECTION_ASSERT_OFFSET(election_case, initiator, 12);
ELECTION_ASSERT_OFFSET(election_case, lost, 16);
ELECTION_ASSERT_OFFSET(election_case, flags, 20);
ELECTION_ASSERT_SIZE(election_cost, 64);
ELECTION_ASSERT_OFFSET(election_cost, answer, 8);
ELECTION_ASSERT_OFFSET(election_cost, handover, 16);
ELECTION_ASSERT_OFFSET(election_cost, coordinator, 24);
ELECTION_ASSERT_OFFSET(election_cost, private_messages, 32);
ELECTION_ASSERT_SIZE(election_cost_extension, 16);
ELECTION_ASSERT_OFFSET(election_cost_extension, messages, 8);
#undef ELECTION_ASSERT
#undef ELECTION_ASSERT_OFFSET
#undef ELECTION_ASSERT_SIZE

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BELLWETHER_ELECTION_PLUGIN_H */
