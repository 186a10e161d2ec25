// The layout of a frame (codec.hh describes it), and which kind each body goes out as; private to
// the codec and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/frames.hh"
#include "io/wire/codec.hh"
#include "io/wire/frames.pb.h"

namespace bellwether {

inline constexpr uint16_t kFrameMagic = 0xBE11;
inline constexpr uint8_t kProtocolVersion = 1;

inline constexpr size_t kMagicOffset = 0;
inline constexpr size_t kVersionOffset = 2;
inline constexpr size_t kKindOffset = 3;
inline constexpr size_t kLengthOffset = 4;
inline constexpr size_t kReservedOffset = 6;
inline constexpr size_t kTagOffset = 8;
inline constexpr size_t kEpochOffset = 16;
inline constexpr size_t kReleasedOffset = 24;
inline constexpr size_t kHeaderBytes = 32;
inline constexpr size_t kChecksumBytes = 4;
inline constexpr size_t kMaxBodyBytes = kMaxFrameBytes - kHeaderBytes - kChecksumBytes;

// Never renumbered.
enum class Kind : uint8_t {
  kHello = 1,
  kPluginMessage = 2,
  kPlannedHandover = 3,
  kCoordinator = 4,
  kRefusal = 5,
  kHeartbeat = 6,
  kHeartbeatAck = 7,
  kResign = 8,
  kLeave = 9,
  kMembers = 10,
  kTurnedAway = 11,
  kWish = 12,
  kCanvass = 13,
  kCanvassReply = 14,
  kGrant = 15,
};

// The kind and the protobuf message that a value goes out as.
template <Kind kValue, typename MessageType>
struct WireType {
  static constexpr Kind kKind = kValue;
  using Message = MessageType;
};

WireType<Kind::kPluginMessage, wire::PluginMessage> wire_type(const ElectionFrame&);
WireType<Kind::kPlannedHandover, wire::PlannedHandover> wire_type(const PlannedHandover&);
WireType<Kind::kCoordinator, wire::Coordinator> wire_type(const Coordinator&);
WireType<Kind::kRefusal, wire::Refusal> wire_type(const Refusal&);
WireType<Kind::kHeartbeat, wire::Heartbeat> wire_type(const Heartbeat&);
WireType<Kind::kHeartbeatAck, wire::HeartbeatAck> wire_type(const HeartbeatAck&);
WireType<Kind::kResign, wire::Resign> wire_type(const Resign&);
WireType<Kind::kLeave, wire::Leave> wire_type(const Leave&);
WireType<Kind::kTurnedAway, wire::TurnedAway> wire_type(const TurnedAway&);
WireType<Kind::kWish, wire::Wish> wire_type(const Wish&);
WireType<Kind::kCanvass, wire::Canvass> wire_type(const Canvass&);
WireType<Kind::kCanvassReply, wire::CanvassReply> wire_type(const CanvassReply&);
WireType<Kind::kGrant, wire::Grant> wire_type(const Grant&);

template <typename Body>
using WireOf = decltype(wire_type(std::declval<Body>()));

}  // namespace bellwether
