/* Calls what no library has, as a plugin does that was linked without all it needs. */
int bellwether_test_nobody_defines_this(void);
int bellwether_test_calls_it(void);
int bellwether_test_calls_it(void) { return bellwether_test_nobody_defines_this(); }
