// The part of a random schedule that is about the network: how connections behave, who does not
// hear whom, what is lost, and evidence that lies.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/fault_lines.hh"

namespace bellwether::simulator {

class NetworkFaults : private FaultLines {
 public:
  // `dice`: those of the schedule, for all but proxies; they must outlive this.
  NetworkFaults(uint64_t seed, Random& dice) : FaultLines(~seed), dice_(dice) {}

  // How connections behave from the start.
  std::string link();
  // Between two nodes of 1..size, or parts of them.
  std::string direction(uint32_t size);
  std::string partition(uint32_t size);
  std::string drop(uint32_t size);
  // Evidence that lies: some, or all, are now and then behind proxies, which end and refuse
  // connections to processes that live.
  std::string proxies_at_start(uint32_t size);
  // Beside another fault, now and then.
  std::string proxies_next();
  // All is well again.
  std::string at_end() const;

 private:
  std::string kind();

  Random& dice_;
  std::string behind_proxies_{};  // who; empty: nobody
};

}  // namespace bellwether::simulator
