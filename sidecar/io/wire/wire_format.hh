// The layout of a frame (codec.hh describes it), and which kind each body goes out as; private to
// the codec and its tests.
#pragma once

#include <cstddef>
#include <cstdint>

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

// The kind and the message that a body goes out as.
template <typename Body>
struct WireOf;

template <Kind kValue, typename MessageType>
struct WireType {
  static constexpr Kind kKind = kValue;
  using Message = MessageType;
};

template <>
struct WireOf<ElectionFrame> : WireType<Kind::kPluginMessage, wire::PluginMessage> {};
template <>
struct WireOf<PlannedHandover> : WireType<Kind::kPlannedHandover, wire::PlannedHandover> {};
template <>
struct WireOf<Coordinator> : WireType<Kind::kCoordinator, wire::Coordinator> {};
template <>
struct WireOf<Refusal> : WireType<Kind::kRefusal, wire::Refusal> {};
template <>
struct WireOf<Heartbeat> : WireType<Kind::kHeartbeat, wire::Heartbeat> {};
template <>
struct WireOf<HeartbeatAck> : WireType<Kind::kHeartbeatAck, wire::HeartbeatAck> {};
template <>
struct WireOf<Resign> : WireType<Kind::kResign, wire::Resign> {};
template <>
struct WireOf<Leave> : WireType<Kind::kLeave, wire::Leave> {};
template <>
struct WireOf<TurnedAway> : WireType<Kind::kTurnedAway, wire::TurnedAway> {};
template <>
struct WireOf<Wish> : WireType<Kind::kWish, wire::Wish> {};
template <>
struct WireOf<Canvass> : WireType<Kind::kCanvass, wire::Canvass> {};
template <>
struct WireOf<CanvassReply> : WireType<Kind::kCanvassReply, wire::CanvassReply> {};
template <>
struct WireOf<Grant> : WireType<Kind::kGrant, wire::Grant> {};

}  // namespace bellwether
