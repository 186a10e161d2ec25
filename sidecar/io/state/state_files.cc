// Slots and members to bytes and back, and which slot of a file counts.
#include "io/state/state_files.hh"

#include <algorithm>
#include <cstring>

#include "base/check.hh"
#include "base/fnv1a.hh"
#include "core/members.hh"
#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/messages.hh"

namespace bellwether::io {
namespace {

constexpr std::array<uint8_t, 8> kMagic{'B', 'W', 'S', 'T', 'A', 'T', 'E', '\0'};
constexpr uint32_t kFormat = 1;

constexpr size_t kFormatOffset = 8;
constexpr size_t kSequenceOffset = 16;
constexpr size_t kIdentityOffset = 24;
constexpr size_t kMaxEpochOffset = 40;
constexpr size_t kGrantedToOffset = 48;
constexpr size_t kLeaseSeenOffset = 64;
constexpr size_t kVotersOffset = 72;
constexpr size_t kGroupOffset = 80;
constexpr size_t kGroupBytes = 64;
constexpr size_t kChecksumOffset = kSlotBytes - sizeof(uint32_t);
static_assert(kMaxNameBytes < kGroupBytes);

using Milliseconds = std::chrono::duration<uint64_t, std::milli>;

// A lease is never kept as shorter than it was.
uint64_t to_ms(Duration lease) { return std::chrono::ceil<Milliseconds>(lease).count(); }

// No voter promises for longer than this, whatever a file says.
Duration from_ms(uint64_t ms) {
  constexpr auto kLongestLease = std::chrono::duration_cast<Milliseconds>(kMaxWireDuration);
  return std::min(Milliseconds(ms), kLongestLease);
}

// Of some version of Bellwether, and as that version has written it.
bool is_undamaged(std::span<const uint8_t> bytes) {
  return std::ranges::equal(bytes.first(kMagic.size()), kMagic) &&
         crc32c(bytes.first(kChecksumOffset)) ==
             load_little_endian<uint32_t>(bytes, kChecksumOffset);
}

constexpr std::array<uint8_t, 8> kMembersMagic{'B', 'W', 'M', 'E', 'M', 'B', 'R', '1'};
constexpr size_t kMembersLengthOffset = 8;
constexpr size_t kMembersChecksumOffset = 12;
constexpr size_t kPrefixBytes = 16;

}  // namespace

uint64_t vote_tag(const std::string& name, const std::map<std::string, HostPort>& voters) {
  if (!voters.contains(name)) return kNotAVoter;
  uint64_t tag = fnv1a(name);
  for (const auto& [voter, address] : voters) tag = fnv1a(voter, fnv1a("\n", tag));
  return std::clamp(tag, kNotAVoter + 1, kVotesForgotten - 1);
}

std::array<uint8_t, kSlotBytes> pack(const Slot& slot) {
  check(slot.group.size() <= kMaxNameBytes, "a group's name keeps its limit");
  std::array<uint8_t, kSlotBytes> bytes{};
  std::ranges::copy(kMagic, bytes.begin());
  store_little_endian(bytes, kFormatOffset, kFormat);
  store_little_endian(bytes, kSequenceOffset, slot.sequence);
  std::ranges::copy(slot.identity, bytes.begin() + kIdentityOffset);
  store_little_endian(bytes, kMaxEpochOffset, slot.record.max_epoch);
  std::ranges::copy(slot.record.granted_to, bytes.begin() + kGrantedToOffset);
  store_little_endian(bytes, kLeaseSeenOffset, to_ms(slot.record.lease_seen));
  store_little_endian(bytes, kVotersOffset, slot.voters);
  std::ranges::copy(slot.group, bytes.begin() + kGroupOffset);
  store_little_endian(bytes, kChecksumOffset, crc32c(std::span(bytes).first(kChecksumOffset)));
  return bytes;
}

std::optional<Slot> unpack(std::span<const uint8_t, kSlotBytes> bytes) {
  if (!is_undamaged(bytes)) return std::nullopt;
  if (load_little_endian<uint32_t>(bytes, kFormatOffset) != kFormat) return std::nullopt;
  Slot slot{
      .sequence = load_little_endian<uint64_t>(bytes, kSequenceOffset),
      .voters = load_little_endian<uint64_t>(bytes, kVotersOffset),
      .record = {.max_epoch = load_little_endian<uint64_t>(bytes, kMaxEpochOffset),
                 .lease_seen = from_ms(load_little_endian<uint64_t>(bytes, kLeaseSeenOffset))}};
  std::memcpy(slot.identity.data, &bytes[kIdentityOffset], sizeof slot.identity.data);
  Uuid& granted_to = slot.record.granted_to;
  std::memcpy(granted_to.data, &bytes[kGrantedToOffset], sizeof granted_to.data);
  const auto group = bytes.subspan<kGroupOffset, kGroupBytes>();
  slot.group.assign(group.begin(), std::ranges::find(group, uint8_t{0}));
  if (slot.group.size() > kMaxNameBytes) return std::nullopt;
  return slot;
}

std::array<uint8_t, kStateFileBytes> new_state_file(const Slot& slot) {
  std::array<uint8_t, kStateFileBytes> bytes{};
  std::ranges::copy(pack(slot), bytes.begin());
  Slot next = slot;
  ++next.sequence;
  std::ranges::copy(pack(next), bytes.begin() + kSlotStride);
  return bytes;
}

StateFileContents read_state_file(std::span<const uint8_t> bytes) {
  StateFileContents contents;
  contents.is_whole = bytes.size() == kStateFileBytes;
  for (size_t place = 0; place < kSlots; ++place) {
    const size_t start = place * kSlotStride;
    if (bytes.size() < start + kSlotBytes) {
      contents.has_damaged_slot = true;
      continue;
    }
    const auto slot_bytes = bytes.subspan(start).first<kSlotBytes>();
    std::optional<Slot> slot = unpack(slot_bytes);
    if (!slot) {
      const bool is_other = is_undamaged(slot_bytes);
      contents.is_of_another_format |= is_other;
      contents.has_damaged_slot |= !is_other;
    } else if (!contents.newest || slot->sequence > contents.newest->sequence) {
      contents.newest = std::move(slot);
      contents.newest_place = place;
    }
  }
  return contents;
}

// --- the file `members` ---

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
  store_little_endian(bytes, kMembersLengthOffset, static_cast<uint32_t>(length));
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
  if (list.size() != load_little_endian<uint32_t>(bytes, kMembersLengthOffset) ||
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

}  // namespace bellwether::io
