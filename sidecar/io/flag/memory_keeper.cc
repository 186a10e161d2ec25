// The keeper shares its maker's memory, even errno: it calls the kernel directly, and nothing else.
#include "io/flag/memory_keeper.hh"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "io/loop/signals_blocked.hh"

namespace bellwether::io {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kCanShareMemory = false;
#else
constexpr bool kCanShareMemory = true;
#endif

// Says one byte when it holds nothing but its end of the life line, then waits for the other end's.
// Until that byte it may fail, and write errno: its maker waits.
__attribute__((no_sanitize("address", "undefined"))) int keep(void* end) {
  const int fd = *static_cast<const int*>(end);
  ::syscall(SYS_prctl, PR_SET_NAME, "memory-keeper");
  if (fd > 0 && ::syscall(SYS_close_range, 0, fd - 1, 0) != 0) return errno;
  if (::syscall(SYS_close_range, fd + 1, UINT_MAX, 0) != 0) return errno;
  char byte = 0;
  ::syscall(SYS_write, fd, &byte, 1);
  // All signals are blocked: what comes back is the end.
  ::syscall(SYS_read, fd, &byte, 1);
  // A successor on the same machine goes before the giving back of memory.
  const sched_param none{};
  ::syscall(SYS_sched_setscheduler, 0, SCHED_IDLE, &none);
  return 0;
}

std::string failure_of(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

}  // namespace

MemoryKeeper::MemoryKeeper() {
  if (!kCanShareMemory) {
    flaw_ = "ThreadSanitizer takes every clone() for a fork()";
    return;
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    flaw_ = failure_of("socketpair");
    return;
  }
  life_line_ = FileDescriptor(ends[0]);
  FileDescriptor other_end(ends[1]);
  {
    const SignalsBlocked it_outlives_them;
    // No signal tells of its end, so nobody but the destructor takes its id away.
    id_ = ::clone(keep, stack_.data() + stack_.size(), CLONE_VM, &ends[1]);
  }
  if (id_ < 0) {
    flaw_ = failure_of("clone");
    return;
  }
  other_end = FileDescriptor();
  char byte = 0;
  if (::read(life_line_.get(), &byte, 1) == 1) return;
  int status = 0;
  ::waitpid(std::exchange(id_, -1), &status, __WALL);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;  // killed: by a filter of system calls
  flaw_ = failure_of("close_range");
}

// Before the life line ends: it would go on as the last of all processes, and be waited for.
MemoryKeeper::~MemoryKeeper() {
  if (id_ <= 0) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, __WALL);
}

}  // namespace bellwether::io
