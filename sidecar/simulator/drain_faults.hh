// The part of a random schedule that is about applications which are asked to finish before their
// node hands over: they do, slowly, never, or die meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/random.hh"

namespace bellwether::simulator {

class DrainFaults {
 public:
  explicit DrainFaults(uint64_t seed) : random_(seed ^ kOtherDice) {}

  // Before the processes start.  Most groups ask no application.
  std::string at_start(uint32_t size);
  // Beside another fault, now and then.
  std::string next(uint32_t size);
  // When all is well: leadership moves, again and again, and, where leaders are asked for their
  // place, no two flags are ever on.  Then no leader waits any more.
  std::string at_end(uint32_t size, bool are_asked);

 private:
  // So that all else in a schedule stays the same.
  static constexpr uint64_t kOtherDice = 0x8cb92ba72f3d8dd7;

  void line(const std::string& text) { text_ += text + "\n"; }
  std::string any(uint32_t size) { return std::to_string(random_.between(1, size)); }
  std::string anybody(uint32_t size) { return random_.happens(0.5) ? "leader" : any(size); }
  std::string drains();
  std::string random_score();
  void wait(uint64_t most_ms) { line("wait " + std::to_string(random_.below(most_ms))); }
  void move_in_the_calm(uint32_t size);
  void end_a_reign(uint32_t size);

  Random random_;
  bool has_drains_ = false;
  std::string text_;
};

}  // namespace bellwether::simulator
