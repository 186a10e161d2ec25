// A futex word that the kernel marks when the thread that holds it dies, however it dies, and
// before the files and sockets of its process are closed (Linux, Documentation/locking/
// robust-futexes.rst).  It works for one thread with one list; the list that the C library has
// registered for that thread is replaced.
#pragma once

#include <linux/futex.h>

#include <cstdint>

namespace bellwether::io {

// The list through which the kernel finds the word.  It must lie in shared memory: under memory
// pressure the kernel may take a dying process's private memory before it looks at the list.
struct RobustList {
  robust_list_head head;
  robust_list entry;
};

// Registers `list` with `word` as its only entry, for the calling thread.  From now on, if the
// thread ends while `word` holds its thread id, the kernel sets `word` to FUTEX_OWNER_DIED.  Both
// must stay in place until the thread has ended.  False when the kernel cannot do that.  Calls
// nothing that a forked child may not call.
bool register_robust_list(RobustList& list, uint32_t& word);

// nullptr when the kernel here keeps this promise, otherwise why not, in a static phrase: some
// sandboxes and exotic kernels do not.  It forks a child and kills it, which takes milliseconds,
// and where it fails at most 20 s; so it belongs before the first thread starts.
const char* robust_futex_flaw();

}  // namespace bellwether::io
