// check(): a condition that only a bug of our own can break.  It stays on in release builds and
// aborts, because a process that is wrong about itself must not go on leading.  What comes from the
// network, a user, a plugin or a disk is never checked this way: it is refused and counted.
#pragma once

namespace bellwether {

// Aborts with `what` (what must hold, in words) and the place when `condition` is false.
void check(bool condition, const char* what, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

}  // namespace bellwether
