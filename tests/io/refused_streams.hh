// Streams for the tests of what the codec refuses, and what becomes of them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "io/wire/messages.hh"
#include "sample_frames.hh"

namespace bellwether::io::test {

inline Bytes& operator+=(Bytes& left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Bytes after_hello(const Bytes& frame) {
  Bytes stream = encoded_stream({});
  return stream += frame;
}

template <typename Message>
Bytes message_frame(Kind kind, const Message& message) {
  return raw_frame(static_cast<uint8_t>(kind), message.SerializeAsString());
}

// Expects that the stream is refused with this flaw, and that so is one that comes byte by byte;
// returns the text.
inline std::string refusal(const Bytes& stream, Rejection flaw) {
  const std::vector<Decoded> found = decoded(stream);
  BOOST_TEST(is_same(decoded(stream, 1), found));
  BOOST_REQUIRE(!found.empty());
  const auto* error = std::get_if<FrameError>(&found.back());
  BOOST_REQUIRE(error != nullptr);
  BOOST_TEST(name(error->flaw) == name(flaw));
  return error->text;
}

inline bool is_accepted(const Bytes& stream) {
  const std::vector<Decoded> found = decoded(stream);
  return !found.empty() && !std::holds_alternative<FrameError>(found.back());
}

}  // namespace bellwether::io::test
