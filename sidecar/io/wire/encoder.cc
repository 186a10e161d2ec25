// Frames to bytes; codec.hh has the layout.
#include <google/protobuf/io/coded_stream.h>

#include <string>
#include <utility>

#include "base/check.hh"
#include "base/fnv1a.hh"
#include "core/members.hh"
#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/messages.hh"
#include "io/wire/wire_format.hh"

namespace bellwether::io {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::io::CodedOutputStream;

// What the fields of wire::Members beside its entries take at most: two numbers of 64 bits and two
// up to kMaxMembers, with a byte of tag each.
constexpr size_t kMaxViewFieldsBytes = 2 * (1 + 10) + 2 * (1 + 2);

void append_frame(uint64_t tag, const Header& header, Kind kind, const MessageLite& message,
                  std::vector<uint8_t>& out) {
  const size_t body_bytes = message.ByteSizeLong();
  check(body_bytes <= kMaxBodyBytes, "a frame that keeps its limits fits");
  const size_t start = out.size();
  out.resize(start + kHeaderBytes + body_bytes + kChecksumBytes);
  const std::span<uint8_t> frame = std::span(out).subspan(start);
  store_little_endian(frame, kMagicOffset, kFrameMagic);
  frame[kVersionOffset] = kProtocolVersion;
  frame[kKindOffset] = static_cast<uint8_t>(kind);
  store_little_endian(frame, kLengthOffset, static_cast<uint16_t>(body_bytes));
  store_little_endian(frame, kReservedOffset, uint16_t{0});
  store_little_endian(frame, kTagOffset, tag);
  store_little_endian(frame, kEpochOffset, header.epoch);
  store_little_endian(frame, kReleasedOffset, header.released);
  message.SerializeWithCachedSizesToArray(frame.data() + kHeaderBytes);
  const std::span<uint8_t> summed = frame.first(kHeaderBytes + body_bytes);
  store_little_endian(frame, summed.size(), crc32c(summed));
}

// Appends as many entries from view.entries[first...] to `part` as one frame holds.
void fill_part(const MemberView& view, size_t first, wire::Members& part) {
  part.set_view_epoch(view.version.epoch);
  part.set_view_counter(view.version.counter);
  part.set_first(static_cast<uint32_t>(first));
  part.set_total(static_cast<uint32_t>(view.entries.size()));
  size_t room = kMaxBodyBytes - kMaxViewFieldsBytes;
  for (size_t i = first; i < view.entries.size(); ++i) {
    wire::Member& entry = *part.add_entries();
    to_wire(view.entries[i], entry);
    const size_t entry_bytes = entry.ByteSizeLong();
    const size_t bytes =
        1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(entry_bytes)) + entry_bytes;
    if (bytes > room) {
      part.mutable_entries()->RemoveLast();
      return;
    }
    room -= bytes;
  }
}

void append_members(uint64_t tag, const Header& header, const MemberView& view,
                    std::vector<uint8_t>& out) {
  check(view.entries.size() <= kMaxMembers, "a view has no more entries than a group members");
  size_t first = 0;
  do {
    wire::Members part;
    fill_part(view, first, part);
    append_frame(tag, header, Kind::kMembers, part, out);
    first += static_cast<size_t>(part.entries_size());
  } while (first < view.entries.size());
}

}  // namespace

Encoder::Encoder(std::string group) : group_(std::move(group)), tag_(fnv1a(group_)) {
  check(is_valid_name(group_), "a group's name keeps the limits of frames");
}

void Encoder::append(const Greeting& greeting, std::vector<uint8_t>& out) const {
  wire::Hello message;
  to_wire(greeting, message);
  message.set_group(group_);
  append_frame(tag_, greeting.hello.header, Kind::kHello, message, out);
}

void Encoder::append(const Frame& frame, std::vector<uint8_t>& out) const {
  std::visit(
      [&]<typename Body>(const Body& body) {
        if constexpr (std::is_same_v<Body, MembersFrame>) {
          append_members(tag_, frame.header, *body.view, out);
        } else {
          typename WireOf<Body>::Message message;
          to_wire(body, message);
          append_frame(tag_, frame.header, WireOf<Body>::kKind, message, out);
        }
      },
      frame.body);
}

void Encoder::append(const TurnedAway& words, std::vector<uint8_t>& out) const {
  wire::TurnedAway message;
  to_wire(words, message);
  append_frame(tag_, Header{}, Kind::kTurnedAway, message, out);
}

}  // namespace bellwether::io
