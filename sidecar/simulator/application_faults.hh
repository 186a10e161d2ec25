// The part of a random schedule that is about applications: they die, hang, crash in a loop, and
// change what they are worth.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/fault_lines.hh"

namespace bellwether::simulator {

class ApplicationFaults : private FaultLines {
 public:
  explicit ApplicationFaults(uint64_t seed) : FaultLines(seed ^ 0xd1b54a32d192ed03) {}

  // Before the processes start.  Most groups have no applications, and nothing to tell of them.
  std::string at_start(uint32_t size);
  // Beside another fault, now and then.
  std::string next(uint32_t size);
  // All is well again; the scores stay as they are.
  std::string at_end(uint32_t size) const;

 private:
  std::string anybody(uint32_t size);
  void crash_in_a_loop(uint32_t size);
  void take_all(uint32_t size);

  bool has_applications_ = false;
};

}  // namespace bellwether::simulator
