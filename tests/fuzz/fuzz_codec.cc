// Fuzzes the decoder.  The first byte chooses: how the stream is cut into pieces, and whether the
// headers and checksums are put right first, without which hardly any input would get past them.
#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/fnv1a.hh"
#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/wire_format.hh"

namespace bellwether {
namespace {

constexpr const char* kGroup = "orders";
constexpr uint8_t kRepair = 0x80;

void require(bool condition) {
  if (!condition) std::abort();
}

// Makes each frame's length end within the stream, and its header and checksum good.
void repair(std::span<uint8_t> stream) {
  while (stream.size() >= io::kHeaderBytes + io::kChecksumBytes) {
    const size_t room =
        std::min(stream.size() - io::kHeaderBytes - io::kChecksumBytes, io::kMaxBodyBytes);
    const size_t wanted = io::load_little_endian<uint16_t>(stream, io::kLengthOffset);
    const size_t body = std::min(wanted, room);
    io::store_little_endian(stream, io::kMagicOffset, io::kFrameMagic);
    stream[io::kVersionOffset] = io::kProtocolVersion;
    io::store_little_endian(stream, io::kLengthOffset, static_cast<uint16_t>(body));
    io::store_little_endian(stream, io::kTagOffset, fnv1a(kGroup));
    const std::span<uint8_t> summed = stream.first(io::kHeaderBytes + body);
    io::store_little_endian(stream, summed.size(), io::crc32c(summed));
    stream = stream.subspan(summed.size() + io::kChecksumBytes);
  }
}

// What is found: each value encoded again, an error as the number of its flaw.
std::vector<uint8_t> decode(std::span<const uint8_t> stream, size_t piece) {
  const io::Encoder encoder(kGroup);
  io::Decoder decoder(kGroup);
  std::vector<uint8_t> found;
  while (!stream.empty()) {
    std::span<const uint8_t> bytes = stream.first(std::min(piece, stream.size()));
    stream = stream.subspan(bytes.size());
    while (true) {
      const io::Decoded next = decoder.next(bytes);
      if (const auto* frame = std::get_if<Frame>(&next)) {
        encoder.append(*frame, found);
      } else if (const auto* greeting = std::get_if<io::Greeting>(&next)) {
        encoder.append(*greeting, found);
      } else if (const auto* words = std::get_if<io::TurnedAway>(&next)) {
        encoder.append(*words, found);
      } else if (const auto* error = std::get_if<io::FrameError>(&next)) {
        require(error->flaw <= Rejection::kLast && io::is_valid_name(error->text.substr(0, 60)));
        found.push_back(static_cast<uint8_t>(error->flaw));
        return found;
      } else {
        require(bytes.empty());
        break;
      }
    }
  }
  return found;
}

}  // namespace
}  // namespace bellwether

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint8_t> stream(data + 1, data + size);
  if ((data[0] & bellwether::kRepair) != 0) bellwether::repair(stream);
  const size_t piece = 1 + (data[0] & ~unsigned{bellwether::kRepair}) * 7;
  const auto found = bellwether::decode(stream, stream.size());
  bellwether::require(bellwether::decode(stream, piece) == found);
  // What was accepted is accepted again and means the same; the number of a flaw, one byte at the
  // end, is the beginning of nothing.
  const auto again = bellwether::decode(found, found.size());
  bellwether::require(again.size() == found.size() || again.size() + 1 == found.size());
  bellwether::require(std::ranges::equal(again, std::span(found).first(again.size())));
  return 0;
}
