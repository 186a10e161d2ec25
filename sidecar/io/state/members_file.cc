// The list of members to bytes and back.
#include "io/state/members_file.hh"

#include <algorithm>
#include <array>

#include "base/check.hh"
#include "core/members.hh"
#include "io/wire/checksum.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/wire_values.hh"

namespace bellwether {
namespace {

constexpr std::array<uint8_t, 8> kMembersMagic{'B', 'W', 'M', 'E', 'M', 'B', 'R', '1'};
constexpr size_t kLengthOffset = 8;
constexpr size_t kMembersChecksumOffset = 12;
constexpr size_t kPrefixBytes = 16;

}  // namespace

std::vector<uint8_t> pack_members(const MemberView& view) {
  wire::Members message;
  message.set_view_epoch(view.version.epoch);
  message.set_view_counter(view.version.counter);
  message.set_total(static_cast<uint32_t>(view.entries.size()));
  for (const MemberEntry& entry : view.entries) to_wire(entry, *message.add_entries());
  const size_t length = message.ByteSizeLong();
  check(length <= kMaxMembersFileBytes - kPrefixBytes, "a view that keeps its limits fits");
  std::vector<uint8_t> bytes(kPrefixBytes + length);
  std::ranges::copy(kMembersMagic, bytes.begin());
  store_little_endian(bytes, kLengthOffset, static_cast<uint32_t>(length));
  message.SerializeWithCachedSizesToArray(bytes.data() + kPrefixBytes);
  store_little_endian(bytes, kMembersChecksumOffset,
                      crc32c(std::span(bytes).subspan(kPrefixBytes)));
  return bytes;
}

std::variant<MemberView, const char*> unpack_members(std::span<const uint8_t> bytes) {
  if (bytes.size() < kPrefixBytes ||
      !std::ranges::equal(bytes.first(kMembersMagic.size()), kMembersMagic)) {
    return "is not a list of members";
  }
  const std::span<const uint8_t> list = bytes.subspan(kPrefixBytes);
  if (list.size() != load_little_endian<uint32_t>(bytes, kLengthOffset) ||
      crc32c(list) != load_little_endian<uint32_t>(bytes, kMembersChecksumOffset)) {
    return "is damaged";
  }
  wire::Members message;
  if (!message.ParseFromArray(list.data(), static_cast<int>(list.size()))) {
    return "cannot be parsed";
  }
  MemberView view{.version = {message.view_epoch(), message.view_counter()}};
  if (const ValueFlaw flaw = append_from_wire(message, view)) return flaw;
  return view;
}

}  // namespace bellwether
