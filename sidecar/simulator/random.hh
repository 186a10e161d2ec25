// The simulator's dice: a seed decides every throw, on every machine alike.
#pragma once

#include <cstdint>
#include <random>

namespace bellwether::simulator {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // 0 .. below-1; the standard's distributions may differ between libraries, this does not.
  uint64_t below(uint64_t below) { return below == 0 ? 0 : engine_() % below; }
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  bool happens(double probability) {
    return static_cast<double>(below(kResolution)) < probability * static_cast<double>(kResolution);
  }

 private:
  static constexpr uint64_t kResolution = 1u << 20;

  std::mt19937_64 engine_;
};

}  // namespace bellwether::simulator
