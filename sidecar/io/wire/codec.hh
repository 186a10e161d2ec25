// Frames as bytes.  Pure: bytes go in and out, no socket is known here.
//
// A frame is a header of 32 bytes, a body of at most 16348 bytes (the protobuf message of
// frames.proto that belongs to its kind) and a checksum of 4 bytes; numbers are little-endian:
//
//   offset  bytes
//        0      2  magic, 0xBE11
//        2      1  version of the protocol, 1; another one is refused
//        3      1  kind; an unknown one is skipped, so that later releases can add some
//        4      2  length of the body
//        6      2  reserved: sent as 0, ignored
//        8      8  tag of the group (fnv1a() of its name; the name itself is in HELLO, and decides)
//       16      8  epoch
//       24      8  released
//       32      …  body
//        …      4  CRC-32C of all that stands before it
//
// The checksum is there because TCP's lets through one damaged segment in 65536, and a damaged
// `released` could end a promise.
//
// A connection starts with a HELLO each way, or with a TURNED_AWAY.  A list of members that does
// not fit into one frame goes out as several (see Members in frames.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/counted.hh"
#include "core/frames.hh"
#include "io/names/connection_ends.hh"

namespace bellwether::io {

// The longest frame, from magic to checksum.
inline constexpr size_t kMaxFrameBytes = size_t{16} * 1024;

// Limits of texts in frames; whoever lets a text into this process (configuration, file) sees to it
// with the two functions.
inline constexpr size_t kMaxNameBytes = 63;
inline constexpr size_t kMaxAddressBytes = 255;

// Names of groups and members: 1 to kMaxNameBytes printable ASCII characters.
bool is_valid_name(std::string_view name);

// host:port, as far as a frame cares: at most kMaxAddressBytes printable ASCII characters without a
// blank.
bool is_valid_address(std::string_view address);

// No lease, and nothing that is left of one, is longer in a frame: a sum with the clock never
// overflows.  What a voter promises at most is the core's business (kMaxLease).
inline constexpr Duration kMaxWireDuration = std::chrono::hours(1);

// A HELLO: what the core wants to know of a peer, what the transport does, and people.
struct Greeting {
  Hello hello;
  // The kernel turns the flag of this process off before it ends its connections, however the
  // process ends (robust_futex.hh): so its end, seen from elsewhere, proves that the flag is off.
  bool is_flag_robust = false;
  // The sender is linked already, and only wants to know who listens here: it is answered, and the
  // connection ends.
  bool is_inquiry = false;
  bool is_tentative = false;
  // The connection that it is said on, as the sender sees it, and whether the sender would rather
  // have one by TLS; the transport fills them in.
  ConnectionEnds ends{};
  bool takes_tls = false;
  // Each at most kMaxNameBytes printable ASCII characters; may be empty.
  std::string software{};  // version of the sidecar
  std::string plugin{};
};

// Why a peer will not be spoken to.  Never renumbered.
enum class TurnAwayReason : uint8_t {
  kUnknown = 0,        // one of a later release
  kDuplicateId = 1,    // another living process has this id
  kDuplicateName = 2,  // another living process has this name
  kGroupFull = 3,      // as many living members as there may be
  kFarAhead = 4,       // its epoch cannot be this group's
  kOtherVoters = 5,    // its [voters], or its record in a store, are not this group's
  kLast = kOtherVoters,
};

// As the log writes it: "its id is in use", ...
const char* name(TurnAwayReason reason);

// In place of HELLO, or after it: the last words to a process that was taken for nobody's peer.
struct TurnedAway {
  TurnAwayReason reason{};
};

struct FrameError {
  Rejection flaw{};
  std::string text;  // one phrase for the log; printable, also when the peer's bytes are not
};

// Writes frames of one group; has no other state, so one serves all connections.
class Encoder {
 public:
  explicit Encoder(std::string group);

  // Appends the bytes of a frame (of MEMBERS: of as many as it takes) to `out`.  Allocates nothing
  // but room in `out`, unless the frame carries texts or ids.  What the limits of codec.hh and of
  // core/frames.hh do not allow is a bug of the caller (check()).
  void append(const Greeting& greeting, std::vector<uint8_t>& out) const;
  void append(const Frame& frame, std::vector<uint8_t>& out) const;
  void append(const TurnedAway& words, std::vector<uint8_t>& out) const;

 private:
  std::string group_;
  uint64_t tag_;
};

// What Decoder::next() found.  MoreNeeded: all bytes are used up.
struct MoreNeeded {};
using Decoded = std::variant<MoreNeeded, Greeting, Frame, TurnedAway, FrameError>;

// Reads what comes over one connection to a peer of `group`.  The bytes are a stranger's: nothing
// is read before its length is known, no claim about a size is believed, and memory is bounded by
// one frame (usually none: a frame that arrives whole is read where it is) and one list of members.
class Decoder {
 public:
  explicit Decoder(std::string group);

  // Takes bytes from the front of `bytes` until a frame is complete, and returns it.  To be called
  // until it returns MoreNeeded (then `bytes` is empty; the rest of the frame is kept here) or
  // FrameError.  An error is final: the position in the stream is lost, so every later call returns
  // it again.  The connection shall be closed.
  Decoded next(std::span<const uint8_t>& bytes);

  // How many frames of a kind unknown here were skipped so far.
  uint64_t skipped() const { return skipped_; }

 private:
  using Bytes = std::span<const uint8_t>;

  Bytes take_frame(Bytes& bytes);
  size_t wanted(Bytes start);
  std::optional<Decoded> read(Bytes frame);
  Decoded read_greeting(const Header& header, Bytes body, bool is_our_tag);
  Decoded read_turned_away(Bytes body);
  std::optional<Decoded> read_members(const Header& header, Bytes body);
  Decoded refuse(Rejection flaw, std::string text);

  std::string group_;
  uint64_t tag_;
  bool is_greeted_ = false;
  std::vector<uint8_t> partial_frame_;        // the beginning of a frame whose end is not here yet
  std::shared_ptr<MemberView> partial_view_;  // shared with nobody before it is complete
  size_t partial_view_total_ = 0;             // how many entries it will have
  uint64_t skipped_ = 0;
  std::optional<FrameError> error_;
};

}  // namespace bellwether::io
