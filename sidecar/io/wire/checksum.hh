// By what damage to frames and stored state is noticed.
#pragma once

#include <cstdint>
#include <span>

namespace bellwether::io {

// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, as in iSCSI and ext4); of "123456789" it
// is 0xE3069283.  Finds every error of up to 32 bits in a row.
uint32_t crc32c(std::span<const uint8_t> bytes);

}  // namespace bellwether::io
