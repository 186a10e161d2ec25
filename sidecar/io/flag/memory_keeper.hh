// A killed process's sockets tell its peers at once, instead of after its memory.
//
// When a process is killed, the kernel first takes its memory apart, page by page, then closes its
// files (Linux, kernel/exit.c: exit_mm before exit_files).  For a sidecar that is most of the time
// from the kill to the moment when a peer sees the connection end.  Memory that a second process
// shares is not taken apart before that one ends, too.  So there is one: without any files, waiting
// for the first one's end, which it outlives for as long as the memory takes.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>

#include "io/loop/files.hh"

namespace bellwether::io {

// The second process.  Whoever kills it takes away nothing but the head start.
class MemoryKeeper {
 public:
  // Before anything is opened that the keeper must not hold open.  Does not throw: see flaw().
  MemoryKeeper();
  // Ends it, and waits for its end.
  ~MemoryKeeper();
  MemoryKeeper(const MemoryKeeper&) = delete;
  MemoryKeeper& operator=(const MemoryKeeper&) = delete;

  // Why there is none, for the log; otherwise empty.  Linux has close_range since 5.9.
  const std::string& flaw() const { return flaw_; }
  pid_t id() const { return id_; }

 private:
  static constexpr size_t kStackBytes = 16 * size_t{1024};

  std::string flaw_{};
  // Closed by our end, whatever ends us; that is how it learns of it.
  FileDescriptor life_line_{};
  alignas(16) std::array<std::byte, kStackBytes> stack_{};
  pid_t id_ = -1;
};

}  // namespace bellwether::io
