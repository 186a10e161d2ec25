// What stands in the bodies of frames: which values are refused, and what it means that one is
// missing.
#include <boost/test/unit_test.hpp>

#include "core/members.hh"
#include "core/promises.hh"
#include "io/wire/codec.hh"
#include "io/wire/messages.hh"
#include "refused_streams.hh"

namespace bellwether::io::test {
namespace {

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

BOOST_AUTO_TEST_SUITE(codec_bodies)

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
  BOOST_TEST(!std::get<Heartbeat>(std::get<Frame>(beat.back()).body).is_draining);
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
