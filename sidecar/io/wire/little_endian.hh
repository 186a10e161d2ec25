// Numbers in bytes, lowest byte first, whatever the machine.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bellwether::io {

// Writes `value` to bytes[offset...]; there must be room.
template <std::unsigned_integral Number>
void store_little_endian(std::span<uint8_t> bytes, size_t offset, Number value) {
  for (size_t i = 0; i < sizeof(Number); ++i) {
    bytes[offset + i] = static_cast<uint8_t>(uint64_t{value} >> (8 * i));
  }
}

// Reads a Number from bytes[offset...]; it must be there.
template <std::unsigned_integral Number>
Number load_little_endian(std::span<const uint8_t> bytes, size_t offset) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) value |= uint64_t{bytes[offset + i]} << (8 * i);
  return static_cast<Number>(value);
}

}  // namespace bellwether::io
