// Frames of every kind for the tests of the codec, and what two frames must agree in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/frames.hh"
#include "io/wire/codec.hh"

namespace bellwether::io::test {

inline constexpr const char* kGroup = "orders";

using Bytes = std::vector<uint8_t>;

// 16 times the same byte.
Uuid id_of(uint8_t byte);

// One with ordinary values, and the one that takes the most room.
Greeting sample_greeting();
Greeting largest_greeting();

// Every kind, with ordinary values, with none, and with the extremes of each type.  A view among
// them takes several frames.
std::vector<Frame> sample_frames();

// A view of `count` members, each with texts as long as they may be.
std::shared_ptr<MemberView> largest_view(size_t count);

bool operator==(const Greeting& left, const Greeting& right);
bool is_same(const Frame& left, const Frame& right);

Bytes encoded(const Greeting& greeting);
Bytes encoded(const Frame& frame);
// An ordinary HELLO and then the frames.
Bytes encoded_stream(const std::vector<Frame>& frames);

// A frame with these bytes as its body and a good checksum.
Bytes raw_frame(uint8_t kind, const std::string& body, const char* group = kGroup);

// Puts the checksum right that the last four bytes should be.
void repair_checksum(Bytes& frame);

// What a decoder makes of a stream that arrives in pieces of `piece` bytes (0: at once).  Closes
// with the error if there is one; MoreNeeded is left out.
std::vector<Decoded> decoded(const Bytes& stream, size_t piece = 0);

// Whether two decoders found the same.
bool is_same(const std::vector<Decoded>& left, const std::vector<Decoded>& right);

}  // namespace bellwether::io::test
