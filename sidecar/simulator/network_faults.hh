// The part of a random schedule that is about the network: how connections behave, who does not
// hear whom, what is lost, and evidence that lies.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/random.hh"

namespace bellwether::simulator {

class NetworkFaults {
 public:
  // `random`: the dice of the schedule; it must outlive this.
  NetworkFaults(uint64_t seed, Random& random) : random_(random), proxies_(~seed) {}

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
  void line(const std::string& text) { text_ += text + "\n"; }
  static std::string number(uint64_t value) { return std::to_string(value); }
  std::string kind();

  Random& random_;
  Random proxies_;                // dice of their own, so that all else stays the same
  std::string behind_proxies_{};  // who; empty: nobody
  std::string text_;
};

}  // namespace bellwether::simulator
