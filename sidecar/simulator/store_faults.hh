// The part of a random schedule under guard "store" that is about the store: the way to it, who
// reaches it, and what somebody does to its record.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/fault_lines.hh"

namespace bellwether::simulator {

class StoreFaults : private FaultLines {
 public:
  explicit StoreFaults(uint64_t seed) : FaultLines(seed ^ 0xd1b54a32d192ed03) {}

  // Of `nodes`.
  std::string settings();
  bool has_proof() const { return has_proof_; }
  // One line or a few, or none, now and then; the group has nodes 1..size.
  std::string now_and_then(uint32_t size);
  // All is well again.
  static std::string at_end();

 private:
  std::string fault(uint32_t size);
  std::string twin(uint32_t size);

  bool has_proof_ = false;
};

}  // namespace bellwether::simulator
