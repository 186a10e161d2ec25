// The two numbers that frames and stored state are told apart by: is it damaged, is it ours?
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bellwether {

// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, as in iSCSI and ext4); of "123456789" it
// is 0xE3069283.  Finds every error of up to 32 bits in a row.
uint32_t crc32c(std::span<const uint8_t> bytes);

// Stands for a group's name where there is no room for it (64-bit FNV-1a).  Two names may share
// one, so where the name itself is at hand, the name decides.
uint64_t group_tag(std::string_view group);

}  // namespace bellwether
