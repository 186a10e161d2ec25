// How many threads a process may have depends on its user (ulimit -u) and on its control group.
#pragma once

#include <cstddef>

namespace bellwether::io {

// Throws std::runtime_error, with a remedy, unless this process may have `count` more at this
// moment.  libuv ends a process without a word when it cannot make those of its pool.
void require_threads(size_t count);

}  // namespace bellwether::io
