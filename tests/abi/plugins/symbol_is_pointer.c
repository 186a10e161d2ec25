/* Exports where its table is, not the table. */
static const unsigned table[18] = {1, 0, sizeof table};
extern __attribute__((visibility("default"))) const void* const bellwether_election_plugin;
const void* const bellwether_election_plugin = table;
