// How many threads a process may have depends on its user (ulimit -u), its control group and its
// address space (ulimit -v); how large their stacks are, on ulimit -s.
#pragma once

#include <cstddef>

namespace bellwether::io {

// Throws std::runtime_error, with a remedy, unless this process may have `count` more at this
// moment.  libuv ends a process without a word when it cannot make those of its pool.
void require_threads(size_t count);
// The same of the stack, which threads have, too: one that is too small ends the process without a
// word.
void require_stack(size_t bytes);

}  // namespace bellwether::io
