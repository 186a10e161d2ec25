// The files `state` and `members` as bytes.  Pure.
//
// `state` is two slots, each with everything that must not be forgotten and a checksum.  A write
// goes to the older slot, so one that never came leaves the newer one.
//
// A slot is 512 bytes at the beginning of a 4096-byte block (so that no disk writes both in one
// go): no more than one sector, which disks write whole or not at all.  So a slot that is damaged
// is not what a crash leaves, but what somebody or something else did, and nobody knows what stood
// in it: perhaps the newest vote.  Such a file is not believed at all.  Numbers are little-endian:
//
//   offset  bytes
//        0      8  magic, "BWSTATE" and a zero
//        8      4  format, 1
//       12      4  zero
//       16      8  sequence: the higher one is newer
//       24     16  identity of the process (UUID)
//       40      8  max_epoch
//       48     16  who has this process's vote in max_epoch (UUID); zeros: nobody
//       64      8  the longest lease that may have been promised, in ms, rounded up
//       72      8  hash of the voters and of this one's name; see Slot::voters
//       80     64  name of the group, filled up with zeros
//      144    364  zero
//      508      4  CRC-32C of all that stands before it
//
// `members` is the last list of members, for a quicker start: the protobuf message that goes over
// the wire, too (one schema, one set of checks), behind 16 bytes: the magic "BWMEMBR1", the length
// of the message and its CRC-32C, both 4 bytes, little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/host_port.hh"
#include "core/identity.hh"
#include "core/member_view.hh"
#include "core/record.hh"

namespace bellwether::io {

inline constexpr size_t kSlotBytes = 512;
inline constexpr size_t kSlotStride = 4096;
inline constexpr size_t kSlots = 2;
inline constexpr size_t kStateFileBytes = kSlots * kSlotStride;

// It had no vote when this was written.
inline constexpr uint64_t kNotAVoter = 0;
// It has forgotten what it has granted, and has not found it out again.
inline constexpr uint64_t kVotesForgotten = UINT64_MAX;

struct Slot {
  uint64_t sequence = 0;
  Uuid identity{};
  std::string group;  // at most kMaxNameBytes
  // As which voter, and among whom, this process has granted and promised what `record` says; or
  // kNotAVoter or kVotesForgotten.
  uint64_t voters = kNotAVoter;
  Record record;

  friend bool operator==(const Slot&, const Slot&) = default;
};

// Whether what was kept under `kept` (Slot::voters), up to `epoch`, was granted as another voter
// than `voters`, or among others: it says nothing of what this one has granted, and is not lost
// either.
inline bool is_vote_of_others(uint64_t kept, uint64_t epoch, uint64_t voters) {
  const bool is_nobodys = kept == kVotesForgotten || (kept == kNotAVoter && epoch == 0);
  return voters != kNotAVoter && kept != voters && !is_nobodys;
}

// As which voter and among whom the process of this name votes (Slot::voters): one with another
// name, or among others, has not granted what this one has.  Where the voters are does not matter;
// kNotAVoter where `name` is not one of them.
uint64_t vote_tag(const std::string& name, const std::map<std::string, HostPort>& voters);

std::array<uint8_t, kSlotBytes> pack(const Slot& slot);

// Nothing when it is damaged or of another format.
std::optional<Slot> unpack(std::span<const uint8_t, kSlotBytes> bytes);

// A file with `slot` in its first place, and once more, as the next one, in its second.
std::array<uint8_t, kStateFileBytes> new_state_file(const Slot& slot);

// What a state file says.
struct StateFileContents {
  std::optional<Slot> newest{};       // of the slots that are good; there may have been a newer one
  size_t newest_place = 0;            // 0 or 1
  bool is_whole = false;              // it has the right length
  bool has_damaged_slot = false;      // at least one is not good
  bool is_of_another_format = false;  // a slot is good, but we don't know its format

  // All that a process has kept is known.
  bool is_good() const { return newest && is_whole && !has_damaged_slot && !is_of_another_format; }
};
StateFileContents read_state_file(std::span<const uint8_t> bytes);

// --- the file `members` ---

// No list within the limits of codec.hh takes more.
inline constexpr size_t kMaxMembersFileBytes = size_t{512} * 1024;

std::vector<uint8_t> pack_members(const MemberView& view);

// The view, or what is wrong with the bytes (a static phrase).
std::variant<MemberView, const char*> unpack_members(std::span<const uint8_t> bytes);

}  // namespace bellwether::io
