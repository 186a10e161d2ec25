/* A plugin of a later major version: only the first eight bytes mean what they mean in ours. */
#include <stdint.h>

struct table {
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t whatever[2];
};
extern __attribute__((visibility("default"))) const struct table bellwether_election_plugin;
const struct table bellwether_election_plugin = {2, 7, {UINT32_MAX, UINT32_MAX}};
