// The layout of a frame (codec.hh describes it); private to the codec and its tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/wire/codec.hh"

namespace bellwether::io {

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

}  // namespace bellwether::io
