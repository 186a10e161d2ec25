// Fuzzes the readers of the state folder's files.  The first byte chooses the file, and whether its
// checksums are put right first.
#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "io/state/state_files.hh"
#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"

namespace bellwether {
namespace {

constexpr uint8_t kMembers = 1;
constexpr uint8_t kRepair = 2;

void require(bool condition) {
  if (!condition) std::abort();
}

void read_slots(std::vector<uint8_t> file, bool is_repaired) {
  for (size_t place = 0; is_repaired && place < io::kSlots; ++place) {
    if (file.size() < place * io::kSlotStride + io::kSlotBytes) break;
    const auto slot = std::span(file).subspan(place * io::kSlotStride, io::kSlotBytes);
    const size_t summed = io::kSlotBytes - sizeof(uint32_t);
    io::store_little_endian(slot, summed, io::crc32c(slot.first(summed)));
  }
  const io::StateFileContents contents = io::read_state_file(file);
  require(contents.newest || !contents.is_good());
  if (!contents.newest) return;
  require(contents.newest->group.size() <= io::kMaxNameBytes);
  require(io::unpack(pack(*contents.newest)) == contents.newest);
}

void read_members(std::vector<uint8_t> file, bool is_repaired) {
  constexpr size_t kPrefixBytes = 16;
  if (is_repaired && file.size() >= kPrefixBytes) {
    const auto list = std::span(file).subspan(kPrefixBytes);
    io::store_little_endian(std::span(file), 8, static_cast<uint32_t>(list.size()));
    io::store_little_endian(std::span(file), 12, io::crc32c(list));
  }
  const auto found = io::unpack_members(file);
  const auto* view = std::get_if<MemberView>(&found);
  if (view == nullptr) return;
  const auto again = io::unpack_members(io::pack_members(*view));
  require(std::get<MemberView>(again).version == view->version);
  require(std::get<MemberView>(again).entries == view->entries);
}

}  // namespace
}  // namespace bellwether

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool is_repaired = (data[0] & bellwether::kRepair) != 0;
  const auto read =
      (data[0] & bellwether::kMembers) != 0 ? bellwether::read_members : bellwether::read_slots;
  read({data + 1, data + size}, is_repaired);
  return 0;
}
