// What the calls of a thread leave where a core dump shows it.
#pragma once

namespace bellwether::io {

// Whether the kernel writes a core dump of this process when it crashes (PR_SET_DUMPABLE).
bool may_dump_core();

// Where it does, wipes what calls that have returned left on this thread's stack, and in its vector
// registers: keys that were read, or pieces of them.
void wipe_traces();

}  // namespace bellwether::io
