// The part of a random schedule that is about applications: they die, hang, crash in a loop, and
// change what they are worth.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/random.hh"

namespace bellwether::simulator {

class ApplicationFaults {
 public:
  explicit ApplicationFaults(uint64_t seed) : random_(seed ^ kOtherDice) {}

  // Before the processes start.  Most groups have no applications, and nothing to tell of them.
  std::string at_start(uint32_t size);
  // Beside another fault, now and then.
  std::string next(uint32_t size);
  // All is well again; the scores stay as they are.
  std::string at_end(uint32_t size) const;

 private:
  // So that all else in a schedule stays the same.
  static constexpr uint64_t kOtherDice = 0xd1b54a32d192ed03;

  void line(const std::string& text) { text_ += text + "\n"; }
  std::string anybody(uint32_t size);
  std::string score();
  void crash_in_a_loop(uint32_t size);
  void take_all(uint32_t size);

  Random random_;
  bool has_applications_ = false;
  std::string text_;
};

}  // namespace bellwether::simulator
