/* A library, but no plugin: it exports something else. */
extern const int something_else;
const int something_else = 1;
