// The part of a random schedule under guard "majority" that is about what voters know: wall clocks
// that are wrong, states that are put back to older ones, and voters that are replaced.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "simulator/fault_lines.hh"

namespace bellwether::simulator {

class MemoryFaults : private FaultLines {
 public:
  explicit MemoryFaults(uint64_t seed) : FaultLines(seed ^ 0x9e3779b97f4a7c15) {}

  // Starts nodes 1..size, of which the first are the voters.
  std::string at_start(uint32_t size, uint32_t voters);
  // When all is well again; `forgetful`: voters that have lost their state meanwhile.
  std::string at_end(const std::set<std::string>& forgetful);
  // Nodes that were to die when they write next.
  const std::set<std::string>& doomed() const { return doomed_; }

 private:
  void put_back();
  void replace_voters();
  void expect_recovery(const std::string& voters);

  uint32_t size_ = 0;
  uint32_t voters_ = 0;
  std::set<std::string> doomed_;
  std::string copied_;  // whose disk an operator has copied
};

}  // namespace bellwether::simulator
