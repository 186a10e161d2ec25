// The file `members` as bytes: the last list of members, for a quicker start.  Pure.
//
// The list is the protobuf message that goes over the wire, too (one schema, one set of checks),
// behind 16 bytes: the magic "BWMEMBR1", the length of the message and its CRC-32C, both 4 bytes,
// little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/member_view.hh"

namespace bellwether {

// No list within the limits of codec.hh takes more.
inline constexpr size_t kMaxMembersFileBytes = size_t{512} * 1024;

std::vector<uint8_t> pack_members(const MemberView& view);

// The view, or what is wrong with the bytes (a static phrase).
std::variant<MemberView, const char*> unpack_members(std::span<const uint8_t> bytes);

}  // namespace bellwether
