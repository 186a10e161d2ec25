// It is not to be asked for, so it is tried.
#include "io/loop/threads.hh"

#include <fmt/core.h>
#include <sys/resource.h>

#include <latch>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace bellwether::io {

void require_threads(size_t count) {
  std::vector<std::thread> threads;
  std::latch over(1);
  try {
    while (threads.size() < count) threads.emplace_back([&over] { over.wait(); });
  } catch (const std::system_error&) {
    // As many as there are.
  }
  over.count_down();
  for (std::thread& thread : threads) thread.join();
  if (threads.size() == count) return;
  throw std::runtime_error(
      fmt::format("only {} threads more may be started, and it takes {}; allow more (ulimit -u, "
                  "TasksMax=, pids.max; or memory: ulimit -v)",
                  threads.size(), count));
}

void require_stack(size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= bytes) return;
  throw std::runtime_error(
      fmt::format("the stack may have {} KiB, and it takes {}; allow more (ulimit -s, LimitSTACK=)",
                  limit.rlim_cur / 1024, bytes / 1024));
}

}  // namespace bellwether::io
