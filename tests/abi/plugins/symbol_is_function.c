/* Takes the symbol for an entry point. */
__attribute__((visibility("default"))) int bellwether_election_plugin(void);
int bellwether_election_plugin(void) { return 1; }
