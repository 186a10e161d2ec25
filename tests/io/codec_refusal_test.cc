// The codec against strangers, damage and attackers: which frames are refused, as what, and that
// nothing else comes of it.
#include <boost/test/unit_test.hpp>
#include <random>

#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/messages.hh"
#include "io/wire/wire_format.hh"
#include "refused_streams.hh"

namespace bellwether::io::test {
namespace {

// Of those that come after HELLO.
constexpr auto kFirstKind = static_cast<uint8_t>(Kind::kPluginMessage);
constexpr auto kLastKind = static_cast<uint8_t>(Kind::kLast);

Bytes text_bytes(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(codec_refusal)

BOOST_AUTO_TEST_CASE(another_protocol_is_refused_after_its_first_two_bytes) {
  BOOST_TEST(refusal(text_bytes("GE"), Rejection::kBadMagic).find("Bellwether") !=
             std::string::npos);
  refusal(text_bytes("GET / HTTP/1.1\r\n\r\n"), Rejection::kBadMagic);
  refusal(after_hello(text_bytes("GET / HTTP/1.1\r\n\r\n")), Rejection::kBadMagic);
  BOOST_TEST(decoded(text_bytes("G")).empty());
}

BOOST_AUTO_TEST_CASE(another_version_is_refused_and_named) {
  Bytes hello = encoded_stream({});
  hello[kVersionOffset] = 2;
  hello.resize(3);
  BOOST_TEST(refusal(hello, Rejection::kBadVersion) ==
             "speaks version 2 of the protocol, this process version 1");
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_limit_is_refused_before_the_body_comes) {
  Bytes header = raw_frame(static_cast<uint8_t>(Kind::kHello), "");
  header.resize(kHeaderBytes);
  store_little_endian(std::span(header), kLengthOffset, static_cast<uint16_t>(kMaxBodyBytes + 1));
  BOOST_TEST(refusal(header, Rejection::kOversized) ==
             "a frame with a body of 16349 bytes; 16348 are allowed");
  store_little_endian(std::span(header), kLengthOffset, static_cast<uint16_t>(kMaxBodyBytes));
  BOOST_TEST(decoded(header).empty());
}

BOOST_AUTO_TEST_CASE(a_hello_of_another_group_is_refused_and_both_are_named) {
  Bytes hello;
  Encoder("billing").append(sample_greeting(), hello);
  BOOST_TEST(refusal(hello, Rejection::kForeignGroup) ==
             "belongs to group \"billing\", this process to \"orders\"");
}

BOOST_AUTO_TEST_CASE(groups_whose_tags_are_equal_are_told_apart_by_their_names) {
  wire::Hello message;
  to_wire(sample_greeting(), message);
  message.set_group("billing");
  refusal(message_frame(Kind::kHello, message), Rejection::kForeignGroup);
}

BOOST_AUTO_TEST_CASE(a_frame_of_another_group_is_refused_on_its_header) {
  Bytes frame = raw_frame(static_cast<uint8_t>(Kind::kResign), "", "billing");
  frame.resize(kHeaderBytes);
  refusal(after_hello(frame), Rejection::kForeignGroup);
}

BOOST_AUTO_TEST_CASE(nothing_may_come_before_hello) {
  for (const Frame& frame : sample_frames()) refusal(encoded(frame), Rejection::kTooEarly);
  refusal(raw_frame(200, ""), Rejection::kTooEarly);
}

BOOST_AUTO_TEST_CASE(being_turned_away_is_no_greeting) {
  Bytes stream;
  Encoder(kGroup).append(TurnedAway{TurnAwayReason::kDuplicateId}, stream);
  BOOST_TEST(is_accepted(stream));
  refusal(stream += encoded(Frame{{}, Resign{}}), Rejection::kTooEarly);
}

BOOST_AUTO_TEST_CASE(only_a_sidecar_of_this_group_turns_anybody_away) {
  Bytes words;
  Encoder("billing").append(TurnedAway{TurnAwayReason::kDuplicateId}, words);
  refusal(words, Rejection::kForeignGroup);
}

BOOST_AUTO_TEST_CASE(being_turned_away_for_a_reason_of_a_later_release_is_still_that) {
  for (const uint32_t reason : {6u, 256u, 257u, 0xffffffffu}) {
    wire::TurnedAway message;
    message.set_reason(reason);
    const std::vector<Decoded> found = decoded(message_frame(Kind::kTurnedAway, message));
    BOOST_REQUIRE(found.size() == 1u);
    BOOST_REQUIRE(std::holds_alternative<TurnedAway>(found.front()));
    BOOST_TEST((std::get<TurnedAway>(found.front()).reason == TurnAwayReason::kUnknown));
  }
}

BOOST_AUTO_TEST_CASE(a_second_hello_is_refused) {
  refusal(after_hello(encoded(sample_greeting())), Rejection::kUnexpectedHello);
}

BOOST_AUTO_TEST_CASE(a_kind_of_a_later_release_is_skipped_and_counted) {
  Bytes stream = after_hello(raw_frame(200, "whatever it is"));
  stream += raw_frame(0, std::string(kMaxBodyBytes, 'x'));
  stream += encoded(Frame{{}, Resign{}});
  Decoder decoder(kGroup);
  std::span<const uint8_t> bytes = stream;
  BOOST_TEST(std::holds_alternative<Greeting>(decoder.next(bytes)));
  BOOST_TEST(std::holds_alternative<Frame>(decoder.next(bytes)));
  BOOST_TEST(decoder.skipped() == 2u);
}

BOOST_AUTO_TEST_CASE(a_field_of_a_later_release_is_ignored) {
  const std::string unknown_field{'\xa2', '\x06', '\x03', 'n', 'e', 'w'};  // number 100, 3 bytes
  BOOST_TEST(
      is_accepted(after_hello(raw_frame(static_cast<uint8_t>(Kind::kResign), unknown_field))));
}

BOOST_AUTO_TEST_CASE(an_error_is_final) {
  Bytes stream = encoded_stream({});
  Decoder decoder(kGroup);
  Bytes garbage(1, 'G');
  garbage.push_back('E');
  std::span<const uint8_t> bytes = garbage;
  const Decoded error = decoder.next(bytes);
  BOOST_REQUIRE(std::holds_alternative<FrameError>(error));
  bytes = stream;
  BOOST_TEST(is_same({decoder.next(bytes)}, {error}));
}

BOOST_AUTO_TEST_CASE(a_body_that_is_not_protobuf_is_refused) {
  for (uint8_t kind = kFirstKind; kind <= kLastKind; ++kind) {
    refusal(after_hello(raw_frame(kind, "\x0f")), Rejection::kMalformed);
    // Groups within groups, as deep as a frame can go.
    refusal(after_hello(raw_frame(kind, std::string(kMaxBodyBytes, '\x0b'))),
            Rejection::kMalformed);
  }
  refusal(raw_frame(static_cast<uint8_t>(Kind::kHello), "\x0f"), Rejection::kMalformed);
}

// Instrumented code takes thirty times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kStride = 5;
#else
constexpr unsigned kStride = 1;
#endif

BOOST_AUTO_TEST_CASE(a_byte_that_changed_on_the_way_is_never_overlooked) {
  // With a longer length, a frame takes in what follows it.
  const Bytes much_more = encoded_stream({sample_frames()[4], sample_frames()[4]});
  const Bytes more = encoded(Frame{{}, Heartbeat{}});
  std::vector<Bytes> frames{encoded(sample_greeting())};
  for (const Frame& frame : sample_frames()) frames.push_back(encoded(frame));
  std::erase_if(frames, [](const Bytes& frame) { return frame.size() > kMaxFrameBytes; });
  for (size_t i = 0; i < frames.size(); ++i) {
    const bool is_hello = i == 0;
    const bool is_long = frames[i].size() > 1000;
    for (size_t place = 0; place < frames[i].size();) {
      const bool is_header = place < kHeaderBytes;
      const bool is_length = place / 2 == kLengthOffset / 2;
      for (unsigned change = 1; change < 256; change += is_header && !is_long ? kStride : 31) {
        Bytes stream = is_hello ? Bytes{} : encoded(sample_greeting());
        const size_t start = stream.size();
        stream += frames[i];
        stream[start + place] ^= static_cast<uint8_t>(change);
        stream += is_length ? much_more : more;
        const std::vector<Decoded> found = decoded(stream);
        const bool is_refused = found.size() == (is_hello ? 1u : 2u) &&
                                std::holds_alternative<FrameError>(found.back());
        if (!is_refused) {
          BOOST_ERROR("frame " << i << ", byte " << place << ", change " << change);
        }
      }
      place += is_long && !is_header ? 211 : 1;
    }
  }
}

BOOST_AUTO_TEST_CASE(garbage_of_any_seed_does_no_harm) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    Bytes stream(random() % 20000);
    for (uint8_t& byte : stream) byte = static_cast<uint8_t>(random());
    const std::vector<Decoded> found = decoded(stream, 1 + random() % 5000);
    BOOST_TEST((found.empty() || std::holds_alternative<FrameError>(found.back())));
  }
}

BOOST_AUTO_TEST_CASE(garbage_in_a_body_gives_a_frame_within_its_limits_or_an_error) {
  for (uint32_t seed = 1; seed <= 20000; ++seed) {
    std::mt19937 random(seed);
    // Small numbers make tags and lengths that mean something.
    std::string body(random() % 60, '\0');
    for (char& byte : body) byte = static_cast<char>(random() % 2 == 0 ? random() : random() % 32);
    const auto kind = static_cast<uint8_t>(kFirstKind + random() % (kLastKind - kFirstKind + 1));
    for (const Decoded& found : decoded(after_hello(raw_frame(kind, body)))) {
      // What is accepted can be passed on: the encoder checks all limits.
      if (const auto* frame = std::get_if<Frame>(&found)) {
        const std::vector<Decoded> again = decoded(after_hello(encoded(*frame)));
        BOOST_TEST(is_same(again, {again.at(0), found}));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
