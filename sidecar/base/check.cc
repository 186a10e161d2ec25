// check() ends the process: see check.hh for when it may be used.
#include "base/check.hh"

#include <cstdio>
#include <cstdlib>

namespace bellwether {

void check(bool condition, const char* what, const char* file, int line) {
  if (condition) return;
  std::fprintf(stderr, "bellwether: broken invariant: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace bellwether
