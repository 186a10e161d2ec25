// The codec against strangers, damage and attackers: what is refused, as what, and that nothing
// else comes of it.
#include <boost/test/unit_test.hpp>
#include <random>

#include "core/members.hh"
#include "core/promises.hh"
#include "io/wire/checksum.hh"
#include "io/wire/codec.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/messages.hh"
#include "io/wire/wire_format.hh"
#include "sample_frames.hh"

namespace bellwether::io::test {
namespace {

Bytes& operator+=(Bytes& left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Bytes after_hello(const Bytes& frame) {
  Bytes stream = encoded_stream({});
  return stream += frame;
}

Bytes text_bytes(const std::string& text) { return {text.begin(), text.end()}; }

template <typename Message>
Bytes message_frame(Kind kind, const Message& message) {
  return raw_frame(static_cast<uint8_t>(kind), message.SerializeAsString());
}

// Expects that the stream is refused with this flaw, and that so is one that comes byte by byte;
// returns the text.
std::string refusal(const Bytes& stream, Rejection flaw) {
  const std::vector<Decoded> found = decoded(stream);
  BOOST_TEST(is_same(decoded(stream, 1), found));
  BOOST_REQUIRE(!found.empty());
  const auto* error = std::get_if<FrameError>(&found.back());
  BOOST_REQUIRE(error != nullptr);
  BOOST_TEST(name(error->flaw) == name(flaw));
  return error->text;
}

bool is_accepted(const Bytes& stream) {
  const std::vector<Decoded> found = decoded(stream);
  return !found.empty() && !std::holds_alternative<FrameError>(found.back());
}

wire::Member good_member() {
  wire::Member member;
  to_wire(sample_greeting().hello.self, member);
  return member;
}

wire::Members part_of_view(uint32_t first, uint32_t total, int entries, uint64_t counter = 1) {
  wire::Members part;
  part.set_view_epoch(1);
  part.set_view_counter(counter);
  part.set_first(first);
  part.set_total(total);
  for (int i = 0; i < entries; ++i) *part.add_entries() = good_member();
  return part;
}

std::string members_refusal(const std::vector<wire::Members>& parts) {
  Bytes stream = encoded_stream({});
  for (const wire::Members& part : parts) stream += message_frame(Kind::kMembers, part);
  return refusal(stream, Rejection::kMalformed);
}

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

BOOST_AUTO_TEST_CASE(ids_have_sixteen_bytes) {
  for (const size_t size : {0u, 1u, 15u, 17u}) {
    wire::Hello hello;
    to_wire(sample_greeting(), hello);
    hello.set_group(kGroup);
    hello.mutable_self()->set_id(std::string(size, 'x'));
    refusal(message_frame(Kind::kHello, hello), Rejection::kMalformed);
    wire::Refusal body;
    body.mutable_leader()->set_id(std::string(size, 'x'));
    refusal(after_hello(message_frame(Kind::kRefusal, body)), Rejection::kMalformed);
  }
}

BOOST_AUTO_TEST_CASE(texts_keep_their_limits) {
  const auto with = [](const auto& change) {
    wire::Hello hello;
    to_wire(sample_greeting(), hello);
    hello.set_group(kGroup);
    change(hello);
    return message_frame(Kind::kHello, hello);
  };
  BOOST_TEST(is_accepted(with([](wire::Hello&) {})));
  const auto refuse = [&](const auto& change) {
    const std::string text = refusal(with(change), Rejection::kMalformed);
    BOOST_TEST(text.starts_with("HELLO: "));
    BOOST_TEST(is_valid_name(text.substr(0, kMaxNameBytes)));
  };
  for (const std::string& bad : {std::string(64, 'x'), std::string("a\nb"), std::string("\xff")}) {
    refuse([&](wire::Hello& hello) { hello.mutable_self()->set_name(bad); });
    refuse([&](wire::Hello& hello) { hello.set_group(bad); });
    refuse([&](wire::Hello& hello) { hello.set_software(bad); });
    refuse([&](wire::Hello& hello) { hello.set_plugin(bad); });
    refuse([&](wire::Hello& hello) { hello.mutable_self()->set_variant(bad); });
    wire::Wish wish;
    wish.set_variant(bad);
    BOOST_TEST(refusal(after_hello(message_frame(Kind::kWish, wish)), Rejection::kMalformed) ==
               "WISH: a variant is too long or not printable");
  }
  refuse([](wire::Hello& hello) { hello.mutable_self()->set_name(""); });
  refuse([](wire::Hello& hello) { hello.set_group(""); });
  refuse([](wire::Hello& hello) { hello.mutable_self()->set_address(std::string(256, 'x')); });
  refuse([](wire::Hello& hello) { hello.mutable_self()->set_address("a b"); });
  refuse([](wire::Hello& hello) { hello.mutable_ends()->set_here(std::string(256, 'x')); });
  refuse([](wire::Hello& hello) { hello.mutable_ends()->set_there("a b"); });
  refuse([](wire::Hello& hello) { hello.clear_self(); });
  refuse([](wire::Hello& hello) { hello.mutable_self()->set_score(kMaxScore + 1); });
}

BOOST_AUTO_TEST_CASE(a_score_beyond_what_all_languages_hold_exactly) {
  wire::Wish wish;
  wish.set_score(-kMaxScore - 1);
  BOOST_TEST(refusal(after_hello(message_frame(Kind::kWish, wish)), Rejection::kMalformed) ==
             "WISH: a score is out of range");
}

BOOST_AUTO_TEST_CASE(a_liveness_that_does_not_exist_is_refused) {
  for (const uint32_t value : {4u, 255u, 256u, 0xffffffffu}) {
    wire::Members part = part_of_view(0, 1, 1);
    part.mutable_entries(0)->set_liveness(value);
    BOOST_TEST(members_refusal({part}) == "MEMBERS: no such liveness");
  }
}

BOOST_AUTO_TEST_CASE(a_plugins_message_keeps_its_kinds_and_its_number_of_ids) {
  const auto frame = [](uint32_t kind, size_t id_bytes) {
    wire::PluginMessage body;
    body.set_kind(kind);
    body.set_ids(std::string(id_bytes, 'x'));
    return after_hello(message_frame(Kind::kPluginMessage, body));
  };
  for (const uint32_t kind : {1u, 2u, 3u, 16u, 31u}) BOOST_TEST(is_accepted(frame(kind, 16)));
  for (const uint32_t kind : {0u, 4u, 15u, 32u, 257u, 0xffffffffu}) {
    refusal(frame(kind, 16), Rejection::kMalformed);
  }
  BOOST_TEST(is_accepted(frame(1, 1000 * 16)));
  refusal(frame(1, 1001 * 16), Rejection::kMalformed);
  refusal(frame(1, 15), Rejection::kMalformed);
}

// The voter that reads it adds it to its clock, and the promise must not wrap around.
BOOST_AUTO_TEST_CASE(a_lease_or_wait_beyond_its_limit_is_refused) {
  const auto limit_ns = static_cast<uint64_t>(kMaxWireDuration.count());
  const auto ends = [](const auto& frame) { return decoded(after_hello(frame)).back(); };
  for (const uint64_t ns : {limit_ns, limit_ns + 1, uint64_t{1} << 63, ~uint64_t{0}}) {
    wire::Coordinator coordinator;
    coordinator.set_lease_ns(ns);
    wire::Heartbeat beat;
    beat.set_lease_ns(ns);
    wire::Grant boot;
    boot.set_boot_wait_ns(ns);
    wire::Grant waiting;
    waiting.add_waits()->set_left_ns(ns);
    waiting.mutable_waits(0)->set_leader(std::string(16, 'x'));
    const bool is_error = ns > limit_ns;
    for (const Bytes& frame :
         {message_frame(Kind::kCoordinator, coordinator), message_frame(Kind::kHeartbeat, beat),
          message_frame(Kind::kGrant, boot), message_frame(Kind::kGrant, waiting)}) {
      BOOST_TEST(std::holds_alternative<FrameError>(ends(frame)) == is_error);
      if (is_error) {
        BOOST_TEST(refusal(after_hello(frame), Rejection::kMalformed)
                       .ends_with(": a lease or wait is too long"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_grant_names_no_more_promises_than_a_voter_makes) {
  wire::Grant grant;
  for (size_t i = 0; i < Promises::kMax; ++i) grant.add_waits()->set_leader(std::string(16, 'x'));
  BOOST_TEST(is_accepted(after_hello(message_frame(Kind::kGrant, grant))));
  grant.add_waits()->set_leader(std::string(16, 'x'));
  BOOST_TEST(refusal(after_hello(message_frame(Kind::kGrant, grant)), Rejection::kMalformed) ==
             "GRANT: too many waits");
}

BOOST_AUTO_TEST_CASE(a_hello_remembers_no_more_than_so_many_releases) {
  wire::Hello hello;
  *hello.mutable_self() = good_member();
  hello.set_group(kGroup);
  for (size_t i = 0; i < kMaxRemembered; ++i) {
    hello.add_remembered()->set_voter(std::string(16, 'x'));
  }
  BOOST_TEST(is_accepted(message_frame(Kind::kHello, hello)));
  hello.mutable_remembered(0)->set_voter("short");
  refusal(message_frame(Kind::kHello, hello), Rejection::kMalformed);
  hello.mutable_remembered(0)->set_voter(std::string(16, 'x'));
  hello.add_remembered()->set_voter(std::string(16, 'x'));
  BOOST_TEST(refusal(message_frame(Kind::kHello, hello), Rejection::kMalformed) ==
             "HELLO: too many releases");
}

// What an older release leaves out must not say more than it knew.
BOOST_AUTO_TEST_CASE(what_is_missing_in_a_frame_of_an_older_release_means_no_more_than_it_did) {
  const std::vector<Decoded> beat =
      decoded(after_hello(raw_frame(static_cast<uint8_t>(Kind::kHeartbeat), "")));
  BOOST_TEST(std::get<Heartbeat>(std::get<Frame>(beat.back()).body).is_effective);
  wire::Hello hello;
  *hello.mutable_self() = good_member();
  hello.set_group(kGroup);
  const std::vector<Decoded> greeting = decoded(message_frame(Kind::kHello, hello));
  BOOST_TEST(!std::get<Greeting>(greeting.back()).is_flag_robust);
  BOOST_TEST(std::get<Greeting>(greeting.back()).hello.voters == 0u);
  BOOST_TEST(std::get<Greeting>(greeting.back()).hello.remembered.empty());
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_view_must_belong_together) {
  const std::string mixed = "MEMBERS: the parts of a view do not belong together";
  BOOST_TEST(members_refusal({part_of_view(1, 2, 1)}) == mixed);
  BOOST_TEST(members_refusal({part_of_view(0, 3, 1), part_of_view(2, 3, 1)}) == mixed);
  BOOST_TEST(members_refusal({part_of_view(0, 3, 1), part_of_view(0, 3, 1)}) == mixed);
  BOOST_TEST(members_refusal({part_of_view(0, 3, 1), part_of_view(1, 4, 1)}) == mixed);
  BOOST_TEST(members_refusal({part_of_view(0, 3, 1), part_of_view(1, 3, 2, 2)}) == mixed);
  members_refusal({part_of_view(0, 2, 3)});
  members_refusal({part_of_view(0, 0, 1)});
  members_refusal({part_of_view(0, 2, 1), part_of_view(1, 2, 2)});
}

BOOST_AUTO_TEST_CASE(a_view_is_bounded_and_so_is_the_number_of_its_parts) {
  members_refusal({part_of_view(0, 1001, 1)});
  members_refusal({part_of_view(0, 0xffffffff, 1)});
  BOOST_TEST(members_refusal({part_of_view(0, 2, 0)}) == "MEMBERS: an empty part");
  BOOST_TEST(members_refusal({part_of_view(0, 2, 1), part_of_view(1, 2, 0)}) ==
             "MEMBERS: an empty part");
}

BOOST_AUTO_TEST_CASE(no_other_frame_stands_between_the_parts_of_a_view) {
  Bytes stream = after_hello(message_frame(Kind::kMembers, part_of_view(0, 2, 1)));
  Bytes with_unknown = stream;
  stream += encoded(Frame{{}, Resign{}});
  refusal(stream, Rejection::kMalformed);
  with_unknown += raw_frame(200, "");
  with_unknown += message_frame(Kind::kMembers, part_of_view(1, 2, 1));
  BOOST_TEST(is_accepted(with_unknown));
}

BOOST_AUTO_TEST_CASE(a_body_that_is_not_protobuf_is_refused) {
  for (uint8_t kind = static_cast<uint8_t>(Kind::kPluginMessage);
       kind <= static_cast<uint8_t>(Kind::kGrant); ++kind) {
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
    const auto kind = static_cast<uint8_t>(2 + random() % 14);
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
