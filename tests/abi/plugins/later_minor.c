/* A plugin of a later minor version: it has a field that this host does not know. */
#define bellwether_election_plugin as_this_header_declares_it
#include <bellwether/election_plugin.h>
#undef bellwether_election_plugin

#include "idle.inc"

static int32_t appended(void) { return 0; }

struct later_plugin {
  election_plugin known;
  int32_t (*appended)(void);
};

extern ELECTION_PLUGIN_EXPORT const struct later_plugin bellwether_election_plugin;
const struct later_plugin bellwether_election_plugin = {
    .known = {.abi_major = ELECTION_ABI_MAJOR,
              .abi_minor = ELECTION_ABI_MINOR + 1,
              .size = sizeof(struct later_plugin),
              .name = "later",
              .version = "9",
              .variants = variants,
              .create = create,
              .destroy = destroy,
              .step = step,
              .extension = extension},
    .appended = appended,
};
