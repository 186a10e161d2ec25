// The codec between sidecars that keep the rules: what goes in comes out, however it is cut.
#include "io/wire/codec.hh"

#include <boost/test/unit_test.hpp>
#include <random>

#include "allocation_count.hh"
#include "base/fnv1a.hh"
#include "io/wire/checksum.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/messages.hh"
#include "io/wire/wire_format.hh"
#include "sample_frames.hh"

namespace bellwether::io::test {
namespace {

std::string hex(std::span<const uint8_t> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codec)

BOOST_AUTO_TEST_CASE(the_checksum_has_its_published_check_value) {
  const std::string text = "123456789";
  const Bytes bytes(text.begin(), text.end());
  BOOST_TEST(crc32c(bytes) == 0xE3069283u);
  BOOST_TEST(crc32c({}) == 0u);
}

BOOST_AUTO_TEST_CASE(the_tag_of_a_group_is_the_published_hash_of_its_name) {
  BOOST_TEST(fnv1a("") == 0xcbf29ce484222325u);
  BOOST_TEST(fnv1a("a") == 0xaf63dc4c8601ec8cu);
  BOOST_TEST(fnv1a("foobar") == 0x85944171f73967e8u);
}

// If this fails, processes of two releases do not understand each other any more.
BOOST_AUTO_TEST_CASE(the_bytes_of_a_frame_are_what_they_were) {
  const Bytes bytes =
      encoded(Frame{{.epoch = 0x0102030405060708, .released = 0x11}, Heartbeat{.sequence = 300}});
  const std::string header =
      "11be0106030000004c8bbe50925d1200"
      "0807060504030201"
      "1100000000000000";
  BOOST_TEST(hex(std::span(bytes).first(kHeaderBytes)) == header);
  BOOST_TEST(hex(std::span(bytes).subspan(kHeaderBytes, 3)) == "08ac02");
  BOOST_TEST(bytes.size() == kHeaderBytes + 3 + kChecksumBytes);
  const size_t summed = bytes.size() - kChecksumBytes;
  BOOST_TEST(load_little_endian<uint32_t>(bytes, summed) == crc32c(std::span(bytes).first(summed)));
}

BOOST_AUTO_TEST_CASE(every_kind_comes_back_as_it_was) {
  const std::vector<Frame> frames = sample_frames();
  const std::vector<Decoded> found = decoded(encoded_stream(frames));
  BOOST_REQUIRE(found.size() == frames.size() + 1);
  BOOST_TEST((std::get<Greeting>(found[0]) == sample_greeting()));
  for (size_t i = 0; i < frames.size(); ++i) {
    BOOST_TEST_CONTEXT("frame " << i << ", " << name(type_of(frames[i]))) {
      BOOST_REQUIRE(std::holds_alternative<Frame>(found[i + 1]));
      BOOST_TEST(is_same(std::get<Frame>(found[i + 1]), frames[i]));
    }
  }
}

BOOST_AUTO_TEST_CASE(who_is_turned_away_learns_why_in_place_of_hello_or_after_it) {
  for (const TurnAwayReason reason :
       {TurnAwayReason::kUnknown, TurnAwayReason::kDuplicateId, TurnAwayReason::kDuplicateName}) {
    Bytes words;
    Encoder(kGroup).append(TurnedAway{reason}, words);
    Bytes late = encoded(sample_greeting());
    late.insert(late.end(), words.begin(), words.end());
    for (const Bytes& stream : {words, late}) {
      const std::vector<Decoded> found = decoded(stream, 1);
      BOOST_REQUIRE(!found.empty());
      BOOST_REQUIRE(std::holds_alternative<TurnedAway>(found.back()));
      BOOST_TEST((std::get<TurnedAway>(found.back()).reason == reason));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_largest_greeting_comes_back_as_it_was) {
  const Bytes bytes = encoded(largest_greeting());
  BOOST_TEST(bytes.size() <= kMaxFrameBytes);
  const std::vector<Decoded> found = decoded(bytes);
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST((std::get<Greeting>(found[0]) == largest_greeting()));
}

BOOST_AUTO_TEST_CASE(a_hello_needs_no_leader_and_no_texts) {
  Greeting greeting = sample_greeting();
  greeting.hello.leader.reset();
  greeting.software.clear();
  greeting.plugin.clear();
  greeting.ends = {};
  BOOST_TEST((std::get<Greeting>(decoded(encoded(greeting)).at(0)) == greeting));
}

BOOST_AUTO_TEST_CASE(a_plugins_longest_message_fits_into_one_frame) {
  for (const Frame& frame : sample_frames()) {
    if (std::holds_alternative<MembersFrame>(frame.body)) continue;
    BOOST_TEST(encoded(frame).size() <= kMaxFrameBytes);
  }
}

BOOST_AUTO_TEST_CASE(the_largest_group_goes_out_in_parts_and_comes_back_whole) {
  const Frame frame{{.epoch = 3, .released = 2}, MembersFrame{largest_view(1000)}};
  const Bytes stream = encoded_stream({frame, Frame{{}, Resign{}}});
  const std::vector<Decoded> found = decoded(stream);
  BOOST_REQUIRE(found.size() == 3u);
  BOOST_TEST(is_same(std::get<Frame>(found[1]), frame));
  // Walk over the frames: all within the limit, and not more of them than their texts ask for.
  size_t frames = 0;
  for (size_t start = 0; start < stream.size(); ++frames) {
    const size_t body = load_little_endian<uint16_t>(stream, start + kLengthOffset);
    BOOST_TEST(body <= kMaxBodyBytes);
    start += kHeaderBytes + body + kChecksumBytes;
  }
  BOOST_TEST(frames == 2u + 29u);
}

BOOST_AUTO_TEST_CASE(two_views_may_follow_each_other) {
  const Frame frame{{}, MembersFrame{largest_view(100)}};
  const std::vector<Decoded> found = decoded(encoded_stream({frame, frame}));
  BOOST_REQUIRE(found.size() == 3u);
  BOOST_TEST(is_same(std::get<Frame>(found[2]), frame));
}

BOOST_AUTO_TEST_CASE(a_stream_says_the_same_in_pieces_of_any_size) {
  const Bytes stream = encoded_stream(sample_frames());
  const std::vector<Decoded> at_once = decoded(stream);
  for (const size_t piece : {1u, 2u, 3u, 31u, 32u, 33u, 35u, 36u, 37u, 1000u, 16384u, 16385u}) {
    BOOST_TEST(is_same(decoded(stream, piece), at_once), "pieces of " << piece);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_says_the_same_in_pieces_of_random_sizes) {
  const Bytes stream = encoded_stream(sample_frames());
  const std::vector<Decoded> at_once = decoded(stream);
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    Decoder decoder(kGroup);
    std::vector<Decoded> found;
    for (size_t start = 0; start < stream.size();) {
      const size_t size = std::min<size_t>(1 + random() % 3000, stream.size() - start);
      std::span<const uint8_t> bytes = std::span(stream).subspan(start, size);
      start += size;
      while (true) {
        Decoded next = decoder.next(bytes);
        if (std::holds_alternative<MoreNeeded>(next)) break;
        found.push_back(std::move(next));
      }
      BOOST_TEST(bytes.empty());
    }
    BOOST_TEST(is_same(found, at_once), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_cut_off_anywhere_gives_what_is_whole_and_waits) {
  std::vector<Frame> frames = sample_frames();
  std::erase_if(frames, [](const Frame& frame) { return encoded(frame).size() > 2000; });
  const Bytes stream = encoded_stream(frames);
  const std::vector<Decoded> all = decoded(stream);
  std::vector<size_t> ends{encoded(sample_greeting()).size()};
  for (const Frame& frame : frames) ends.push_back(ends.back() + encoded(frame).size());
  for (size_t size = 0; size < stream.size(); ++size) {
    const Bytes start(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(size));
    const auto whole = std::ranges::upper_bound(ends, size) - ends.begin();
    const std::vector<Decoded> expected(all.begin(), all.begin() + whole);
    BOOST_TEST(is_same(decoded(start), expected), "after " << size << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(a_heartbeat_and_its_acknowledgement_allocate_nothing) {
  const Encoder encoder(kGroup);
  const Frame beat{{.epoch = 7},
                   Heartbeat{.sequence = 1u << 30,
                             .terms = {.voters = ~uint64_t{0}, .lease = kMaxWireDuration}}};
  const Frame ack{{.epoch = 7},
                  HeartbeatAck{.sequence = 1u << 30, .promised_epoch = 7, .view = {7, 3}}};
  Bytes bytes = encoded(sample_greeting());
  Decoder decoder(kGroup);
  std::span<const uint8_t> hello = bytes;
  BOOST_REQUIRE(std::holds_alternative<Greeting>(decoder.next(hello)));
  int frames = 0;
  const size_t before = allocation_count();
  for (int i = 0; i < 1000; ++i) {
    bytes.clear();
    encoder.append(beat, bytes);
    encoder.append(ack, bytes);
    std::span<const uint8_t> rest = bytes;
    while (std::holds_alternative<Frame>(decoder.next(rest))) ++frames;
  }
  const size_t after = allocation_count();
  BOOST_TEST(frames == 2000);
  BOOST_TEST(after == before);
}

BOOST_AUTO_TEST_CASE(no_more_than_one_frame_is_kept_while_the_rest_is_awaited) {
  const Bytes stream = encoded_stream({sample_frames()[4]});
  Decoder decoder(kGroup);
  std::span<const uint8_t> bytes = std::span(stream).first(stream.size() - 1);
  BOOST_REQUIRE(std::holds_alternative<Greeting>(decoder.next(bytes)));
  const size_t before = allocation_count();
  BOOST_TEST(std::holds_alternative<MoreNeeded>(decoder.next(bytes)));
  BOOST_TEST(allocation_count() <= before + 2);
  bytes = std::span(stream).last(1);
  BOOST_TEST(std::holds_alternative<Frame>(decoder.next(bytes)));
}

BOOST_AUTO_TEST_CASE(names_and_addresses_have_limits) {
  BOOST_TEST(is_valid_name("orders-0"));
  BOOST_TEST(is_valid_name("a node"));
  BOOST_TEST(is_valid_name(std::string(63, 'x')));
  BOOST_TEST(!is_valid_name(std::string(64, 'x')));
  BOOST_TEST(!is_valid_name(""));
  BOOST_TEST(!is_valid_name("a\nb"));
  BOOST_TEST(!is_valid_name("\x7f"));
  BOOST_TEST(!is_valid_name("\xc3\xa4"));
  BOOST_TEST(is_valid_address("[fe80::1]:7946"));
  BOOST_TEST(is_valid_address(""));
  BOOST_TEST(is_valid_address(std::string(255, 'x')));
  BOOST_TEST(!is_valid_address(std::string(256, 'x')));
  BOOST_TEST(!is_valid_address("a host:7946"));
}

// A later release may have more reasons.
BOOST_AUTO_TEST_CASE(an_ability_that_is_not_known_is_none) {
  for (const uint32_t value : {3u, 255u, 256u, 0xffffffffu}) {
    BOOST_TEST((from_wire_ability(value) == Ability::kUnhealthy));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
