// Both numbers, without a table of our own.
#include "io/wire/checksum.hh"

#include <boost/crc.hpp>

namespace bellwether {

uint32_t crc32c(std::span<const uint8_t> bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

uint64_t group_tag(std::string_view group) {
  constexpr uint64_t kOffsetBasis = 0xcbf29ce484222325;
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = kOffsetBasis;
  for (const char byte : group) hash = (hash ^ static_cast<uint8_t>(byte)) * kPrime;
  return hash;
}

}  // namespace bellwether
