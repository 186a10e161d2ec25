// Bytes to frames; codec.hh has the layout.
#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/fnv1a.hh"
#include "core/members.hh"
#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/messages.hh"
#include "io/wire/wire_format.hh"

namespace bellwether::io {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr const char* kNotProtobuf = "the body cannot be parsed";

// What a record of TLS begins with.
constexpr uint8_t kTlsAlert = 0x15;
constexpr uint8_t kTlsHello = 0x16;
constexpr uint8_t kTlsMajor = 0x03;

template <typename Message>
bool parse(Bytes body, Message& message) {
  return message.ParseFromArray(body.data(), static_cast<int>(body.size()));
}

// Reads `bytes` as a Body if `kind` is its kind; `flaw` is what is wrong with it.
template <typename Body>
bool read_body(Kind kind, Bytes bytes, Frame& frame, ValueFlaw& flaw) {
  if constexpr (std::is_same_v<Body, MembersFrame>) {
    return false;  // may come in parts, see read_members()
  } else {
    if (kind != WireOf<Body>::kKind) return false;
    typename WireOf<Body>::Message message;
    Body& body = frame.body.emplace<Body>();
    flaw = parse(bytes, message) ? from_wire(message, body) : kNotProtobuf;
    return true;
  }
}

// Reads `bytes` as whichever alternative of `body`, which is the frame's, it is; false: none.
template <typename... Bodies>
bool read_any(const std::variant<Bodies...>& /*body*/, Kind kind, Bytes bytes, Frame& frame,
              ValueFlaw& flaw) {
  return (read_body<Bodies>(kind, bytes, frame, flaw) || ...);
}

std::string complaint(const char* what, ValueFlaw flaw) { return std::string(what) + ": " + flaw; }

std::string complaint(const Frame& frame, ValueFlaw flaw) {
  const bool is_plugins = std::holds_alternative<ElectionFrame>(frame.body);
  return complaint(is_plugins ? "a plugin's message" : name(type_of(frame)), flaw);
}

bool is_printable(std::string_view text, char lowest) {
  return std::ranges::all_of(text, [=](char c) { return c >= lowest && c <= '~'; });
}

Kind kind_of(Bytes frame) { return static_cast<Kind>(frame[kKindOffset]); }

}  // namespace

bool is_valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && is_printable(name, ' ');
}

bool is_valid_address(std::string_view address) {
  return address.size() <= kMaxAddressBytes && is_printable(address, '!');
}

const char* name(TurnAwayReason reason) {
  static constexpr Names<TurnAwayReason> kNames(
      {"for a reason of a later release", "its id is in use", "its name is in use",
       "the group is full", "its epoch is too far ahead of the group's",
       "its guard is another than that peer's: other [voters], or another record in a store"});
  return kNames[reason];
}

Decoder::Decoder(std::string group) : group_(std::move(group)), tag_(fnv1a(group_)) {}

Decoded Decoder::next(Bytes& bytes) {
  while (!error_) {
    const Bytes frame = take_frame(bytes);
    if (frame.empty()) break;
    std::optional<Decoded> found = read(frame);
    partial_frame_.clear();
    if (found) return *std::move(found);
  }
  if (error_) return *error_;
  return MoreNeeded{};
}

// Returns a whole frame, or nothing when more bytes are needed or its header is refused.
Bytes Decoder::take_frame(Bytes& bytes) {
  if (partial_frame_.empty()) {
    const size_t count = wanted(bytes);
    if (error_) return {};
    if (bytes.size() >= count) {
      const Bytes frame = bytes.first(count);
      bytes = bytes.subspan(count);
      return frame;
    }
  }
  while (true) {
    const size_t count = wanted(partial_frame_);
    if (error_) return {};
    if (partial_frame_.size() == count) return partial_frame_;
    if (bytes.empty()) return {};
    const Bytes taken = bytes.first(std::min(bytes.size(), count - partial_frame_.size()));
    partial_frame_.reserve(count);
    partial_frame_.insert(partial_frame_.end(), taken.begin(), taken.end());
    bytes = bytes.subspan(taken.size());
  }
}

// How many bytes the frame has that begins with `start`, as far as they tell.  Looks at every field
// as soon as it is there: who speaks another protocol may never send a whole header.
size_t Decoder::wanted(Bytes start) {
  if (start.size() < kVersionOffset) return kHeaderBytes;
  if (load_little_endian<uint16_t>(start, kMagicOffset) != kFrameMagic) {
    const bool is_tls = (start[0] == kTlsHello || start[0] == kTlsAlert) && start[1] == kTlsMajor;
    refuse(Rejection::kBadMagic,
           is_tls ? "the peer speaks TLS, but there is no [tls] here; give this side "
                    "the same [tls]"
                  : "this is not the protocol of Bellwether");
    return 0;
  }
  if (start.size() < kKindOffset) return kHeaderBytes;
  const unsigned version = start[kVersionOffset];
  if (version != kProtocolVersion) {
    refuse(Rejection::kBadVersion,
           fmt::format("speaks version {} of the protocol, this process version {}", version,
                       kProtocolVersion));
    return 0;
  }
  if (start.size() < kHeaderBytes) return kHeaderBytes;
  const size_t body_bytes = load_little_endian<uint16_t>(start, kLengthOffset);
  const bool is_hello = kind_of(start) == Kind::kHello;
  const bool may_come_first = is_hello || kind_of(start) == Kind::kTurnedAway;
  if (body_bytes > kMaxBodyBytes) {
    refuse(Rejection::kOversized, fmt::format("a frame with a body of {} bytes; {} are allowed",
                                              body_bytes, kMaxBodyBytes));
  } else if (!is_hello && load_little_endian<uint64_t>(start, kTagOffset) != tag_) {
    // A HELLO is read to its end: it has the name of the other group.
    refuse(Rejection::kForeignGroup, "belongs to another group than \"" + group_ + "\"");
  } else if (!may_come_first && !is_greeted_) {
    refuse(Rejection::kTooEarly, "a frame before HELLO");
  } else if (is_hello && is_greeted_) {
    refuse(Rejection::kUnexpectedHello, "a second HELLO");
  }
  return kHeaderBytes + body_bytes + kChecksumBytes;
}

// Returns nothing when the frame was skipped, or is a part of a list that goes on.
std::optional<Decoded> Decoder::read(Bytes frame) {
  const Bytes summed = frame.first(frame.size() - kChecksumBytes);
  if (crc32c(summed) != load_little_endian<uint32_t>(frame, summed.size())) {
    return refuse(Rejection::kBadChecksum, "a frame that was damaged on the way");
  }
  const Kind kind = kind_of(frame);
  const Header header{.epoch = load_little_endian<uint64_t>(frame, kEpochOffset),
                      .released = load_little_endian<uint64_t>(frame, kReleasedOffset)};
  const Bytes body = summed.subspan(kHeaderBytes);
  if (kind == Kind::kHello) {
    return read_greeting(header, body, load_little_endian<uint64_t>(frame, kTagOffset) == tag_);
  }
  if (kind == Kind::kTurnedAway) return read_turned_away(body);
  if (kind == Kind::kMembers) return read_members(header, body);
  Frame result{.header = header, .body = Resign{}};
  ValueFlaw flaw = nullptr;
  if (!read_any(result.body, kind, body, result, flaw)) {
    ++skipped_;
    return std::nullopt;
  }
  if (partial_view_) flaw = "stands between the parts of a MEMBERS";
  if (flaw != nullptr) return refuse(Rejection::kMalformed, complaint(result, flaw));
  return result;
}

Decoded Decoder::read_greeting(const Header& header, Bytes body, bool is_our_tag) {
  wire::Hello message;
  Greeting greeting;
  if (!parse(body, message)) {
    return refuse(Rejection::kMalformed, complaint("HELLO", kNotProtobuf));
  }
  if (!is_valid_name(message.group())) {
    return refuse(Rejection::kMalformed,
                  complaint("HELLO", "the group's name is empty, too long or not printable"));
  }
  if (!is_our_tag || message.group() != group_) {
    return refuse(
        Rejection::kForeignGroup,
        fmt::format("belongs to group \"{}\", this process to \"{}\"", message.group(), group_));
  }
  if (const ValueFlaw flaw = from_wire(message, greeting)) {
    return refuse(Rejection::kMalformed, complaint("HELLO", flaw));
  }
  greeting.hello.header = header;
  is_greeted_ = true;
  return greeting;
}

Decoded Decoder::read_turned_away(Bytes body) {
  wire::TurnedAway message;
  if (!parse(body, message)) {
    return refuse(Rejection::kMalformed, complaint("TURNED_AWAY", kNotProtobuf));
  }
  TurnedAway words;
  from_wire(message, words);
  return words;
}

std::optional<Decoded> Decoder::read_members(const Header& header, Bytes body) {
  const auto malformed = [this](ValueFlaw flaw) {
    return refuse(Rejection::kMalformed, complaint("MEMBERS", flaw));
  };
  wire::Members message;
  if (!parse(body, message)) return malformed(kNotProtobuf);
  const ViewVersion version{.epoch = message.view_epoch(), .counter = message.view_counter()};
  if (!partial_view_) {
    if (message.total() > kMaxMembers) return malformed("more members than a group may have");
    partial_view_ = std::make_shared<MemberView>();
    partial_view_->version = version;
    partial_view_total_ = message.total();
  }
  const std::vector<MemberEntry>& entries = partial_view_->entries;
  if (message.first() != entries.size() || message.total() != partial_view_total_ ||
      version != partial_view_->version) {
    return malformed("the parts of a view do not belong together");
  }
  // An empty part would let a peer go on for ever.
  if (message.entries_size() == 0 && partial_view_total_ != 0) return malformed("an empty part");
  if (const ValueFlaw flaw = append_from_wire(message, *partial_view_)) return malformed(flaw);
  if (entries.size() > partial_view_total_) return malformed("more entries than announced");
  if (entries.size() < partial_view_total_) return std::nullopt;
  return Frame{.header = header, .body = MembersFrame{std::exchange(partial_view_, nullptr)}};
}

// Every later call of next() returns the same.
Decoded Decoder::refuse(Rejection flaw, std::string text) {
  partial_view_.reset();
  return error_.emplace(FrameError{.flaw = flaw, .text = std::move(text)});
}

}  // namespace bellwether::io
