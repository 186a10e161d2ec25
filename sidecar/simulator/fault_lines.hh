// What the parts of a random schedule have in common: lines of a scenario, and dice of their own,
// so that all else in a schedule stays the same.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "simulator/random.hh"

namespace bellwether::simulator {

class FaultLines {
 protected:
  explicit FaultLines(uint64_t seed) : random_(seed) {}

  void add(const std::string& lines) { text_ += lines; }
  void line(const std::string& text) { add(text + "\n"); }
  // All that there are since the last call.
  std::string take_lines() { return std::exchange(text_, {}); }

  static std::string number(uint64_t value) { return std::to_string(value); }
  // Of the nodes 1..size.
  static std::string everybody(uint32_t size) { return "1.." + number(size); }
  std::string any(uint32_t size) { return number(random_.between(1, size)); }
  // Of an application: few values, so that some are equal and some are within a margin.
  std::string score() { return std::to_string(static_cast<int64_t>(random_.below(12)) - 4); }

  Random random_;

 private:
  std::string text_;
};

}  // namespace bellwether::simulator
