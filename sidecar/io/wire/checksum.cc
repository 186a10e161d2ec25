// Without a table of our own.
#include "io/wire/checksum.hh"

#include <boost/crc.hpp>

namespace bellwether::io {

uint32_t crc32c(std::span<const uint8_t> bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

}  // namespace bellwether::io
