// getrlimit(2) and setrlimit(2).  Hosts give 1,024 for the sake of select(2), which nobody here
// uses.
#include "io/loop/open_files.hh"

#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace bellwether {

uint64_t raised_open_files(uint64_t soft, uint64_t hard) {
  return std::max(soft, std::min(hard, kEnoughOpenFiles));
}

uint64_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return kEnoughOpenFiles;  // it is not known to be low
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = raised_open_files(limit.rlim_cur, limit.rlim_max);
  const bool is_raised = limit.rlim_cur == before || ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  const rlim_t now = is_raised ? limit.rlim_cur : before;
  if (now >= kFewestOpenFiles) return now;
  throw std::runtime_error("only " + std::to_string(now) + " files may be open; raise that to " +
                           std::to_string(kEnoughOpenFiles) + " (LimitNOFILE=, ulimit -n)");
}

}  // namespace bellwether
