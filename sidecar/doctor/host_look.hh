// Looks at the clock and at the limits of a process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>

#include "doctor/facts.hh"

namespace bellwether::doctor {

// Compares two clocks over the time from its making to facts().
class ClockWatch {
 public:
  ClockWatch();
  ClockFacts facts() const;

 private:
  Instant boot_;
  std::chrono::system_clock::time_point wall_;
};

// Of the process, or of this one when it is 0 or cannot be seen.
LimitFacts look_at_limits(pid_t process);

// The quota of processor time that binds the process which `list` (/proc/PID/cgroup) is about, or
// nothing; `root` is where the control groups are (/sys/fs/cgroup).
void look_at_quota(const std::filesystem::path& list, const std::filesystem::path& root,
                   LimitFacts& facts);

}  // namespace bellwether::doctor
