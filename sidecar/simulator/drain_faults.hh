// The part of a random schedule that is about applications which are asked to finish before their
// node hands over: they do, slowly, never, or die meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/fault_lines.hh"

namespace bellwether::simulator {

class DrainFaults : private FaultLines {
 public:
  explicit DrainFaults(uint64_t seed) : FaultLines(seed ^ 0x8cb92ba72f3d8dd7) {}

  // Before the processes start.  Most groups ask no application.
  std::string at_start(uint32_t size);
  // Beside another fault, now and then.
  std::string next(uint32_t size);
  // When all is well: leadership moves, again and again, and, where leaders are asked for their
  // place, no two flags are ever on.  Then no leader waits any more.
  std::string at_end(uint32_t size, bool are_asked);

 private:
  std::string anybody(uint32_t size) { return random_.happens(0.5) ? "leader" : any(size); }
  std::string drains();
  void wait(uint64_t most_ms) { line("wait " + number(random_.below(most_ms))); }
  void move_in_the_calm(uint32_t size);
  void end_a_reign(uint32_t size);

  bool has_drains_ = false;
};

}  // namespace bellwether::simulator
