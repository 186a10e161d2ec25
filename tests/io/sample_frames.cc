// The samples, and the comparison of frames, which the core itself has no need of.
#include "sample_frames.hh"

#include <bellwether/election_plugin.h>

#include <algorithm>
#include <limits>
#include <span>

#include "base/fnv1a.hh"
#include "core/ability.hh"
#include "core/members.hh"
#include "core/options.hh"
#include "core/promises.hh"
#include "frame_fields.hh"
#include "io/wire/checksum.hh"
#include "io/wire/little_endian.hh"
#include "io/wire/wire_format.hh"

namespace bellwether::io::test {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
constexpr uint32_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr Header kOrdinary{.epoch = 7, .released = 6};
constexpr Header kExtreme{.epoch = kMax, .released = kMax - 1};

LeaderHint largest_hint() {
  return {.id = id_of(0xff), .epoch = kMax, .is_appointed = true, .score = -kMaxScore};
}

MemberEntry largest_entry(uint8_t byte) {
  return {.id = id_of(byte),
          .name = std::string(kMaxNameBytes, '~'),
          .address = std::string(kMaxAddressBytes, '!'),
          .priority = kMax32,
          .boot = kMax,
          .home = kMax,
          .lease = kMaxWireDuration,
          .liveness = Liveness::kLeft,
          .is_electable = true,
          .variant = std::string(kMaxNameBytes, '~'),
          .ability = Ability::kLast,
          .score = -kMaxScore,
          .revision = kMax};
}

MemberEntry ordinary_entry(uint8_t byte, Liveness liveness) {
  return {.id = id_of(byte),
          .name = "node " + std::to_string(byte),
          .address = "[::1]:7946",
          .priority = byte,
          .boot = uint64_t{byte} << 40,
          .home = uint64_t{byte} << 48,
          .lease = std::chrono::seconds(byte),
          .liveness = liveness,
          .is_electable = byte % 2 == 0,
          .variant = byte == 3 ? "" : "classic",
          .ability = byte % 2 == 0 ? Ability::kAble : Ability::kAbsent,
          .score = 10 - byte,
          .revision = byte};
}

ElectionFrame largest_election_frame() {
  return {.kind = ELECTION_MESSAGE_LAST_PRIVATE,
          .flags = kMax32,
          .round = kMax,
          .ids = std::vector<election_id>(kMaxMembers, to_election_id(id_of(0xff))),
          .leader = largest_hint()};
}

Terms largest_terms() { return {.voters = kMax, .lease = kMaxWireDuration}; }

Grant largest_grant() {
  const Wait wait{.leader = id_of(0xff), .epoch = kMax, .left = kMaxWireDuration};
  return {.epoch = kMax,
          .is_granted = true,
          .sequence = kMax,
          .waits = std::vector<Wait>(Promises::kMax, wait),
          .boot_wait = kMaxWireDuration,
          .leader = largest_hint()};
}

// Every kind of guard "majority".
std::vector<Frame> guarded_frames() {
  using std::chrono::milliseconds;
  const Terms terms{.voters = 77, .lease = milliseconds(1000)};
  const LeaderHint leader{.id = id_of(8), .epoch = 7};
  return {
      {kOrdinary, Coordinator{.is_planned = true, .sequence = 1, .terms = terms}},
      {kExtreme, Coordinator{.sequence = kMax, .terms = largest_terms()}},
      {kOrdinary, Heartbeat{.sequence = 2, .is_effective = false, .terms = terms}},
      {kOrdinary, Heartbeat{.sequence = 2, .is_effective = false, .is_planned = true}},
      {kExtreme, Heartbeat{.sequence = kMax, .is_planned = true, .terms = largest_terms()}},
      {kOrdinary, HeartbeatAck{.sequence = 2, .promised_epoch = 7}},
      {kExtreme, HeartbeatAck{.promised_epoch = kMax}},
      {kOrdinary, Canvass{.number = 5, .voters = 77}},
      {kOrdinary, Canvass{}},
      {kOrdinary, Canvass{.number = 5, .is_take_over = true, .score = 3}},
      {kExtreme, Canvass{.number = kMax,
                         .voters = kMax,
                         .is_lost = true,
                         .is_planned = true,
                         .is_take_over = true,
                         .score = -kMaxScore,
                         .holder_boot = kMax}},
      {kOrdinary, CanvassReply{.number = 5, .is_yes = true}},
      {kOrdinary, CanvassReply{.number = 5, .leader = leader}},
      {kOrdinary, CanvassReply{.number = 5, .is_yes = true, .wait = std::chrono::seconds(20)}},
      {kExtreme, CanvassReply{.number = kMax,
                              .is_lost = true,
                              .leader = largest_hint(),
                              .wait = kLongestDrain,
                              .has_proof = true}},
      {kOrdinary, Grant{.epoch = 7, .leader = leader}},
      {kOrdinary, Grant{}},
      {kOrdinary, Grant{.epoch = 7,
                        .is_granted = true,
                        .sequence = 3,
                        .waits = {{.leader = id_of(3), .epoch = 6, .left = Duration(1)},
                                  {.leader = id_of(4), .epoch = 5, .left = milliseconds(999)}},
                        .boot_wait = milliseconds(20)}},
      {kExtreme, largest_grant()},
  };
}

std::shared_ptr<MemberView> ordinary_view() {
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = 7, .counter = 3};
  view->entries = {ordinary_entry(1, Liveness::kAlive), ordinary_entry(2, Liveness::kSuspect),
                   ordinary_entry(3, Liveness::kDown), ordinary_entry(4, Liveness::kLeft)};
  view->entries.front().address.clear();
  return view;
}

}  // namespace

Uuid id_of(uint8_t byte) {
  Uuid id;
  std::ranges::fill(id, byte);
  return id;
}

Greeting sample_greeting() {
  return {.hello = {.header = kOrdinary,
                    .self = ordinary_entry(9, Liveness::kAlive),
                    .leader = LeaderHint{.id = id_of(8), .epoch = 7},
                    .view = {.epoch = 7, .counter = 2},
                    .voters = 77,
                    .remembered = {{.voter = id_of(5), .epoch = 6}, {.voter = id_of(6)}}},
          .is_flag_robust = true,
          .ends = {.here = "10.0.0.9:7946",
                   .there = "[fd00::8]:40000",
                   .machine = 0x0123456789abcdef,
                   .network = 1},
          .software = "0.1.0",
          .plugin = "bully"};
}

Greeting largest_greeting() {
  const std::string text(kMaxNameBytes, 'x');
  return {.hello = {.header = kExtreme,
                    .self = largest_entry(0xff),
                    .leader = largest_hint(),
                    .view = {.epoch = kMax, .counter = kMax},
                    .voters = kMax,
                    .remembered = std::vector<RememberedRelease>(
                        kMaxRemembered, {.voter = id_of(0xff), .epoch = kMax})},
          .is_flag_robust = true,
          .is_inquiry = true,
          .is_tentative = true,
          .ends = {.here = std::string(kMaxAddressBytes, '!'),
                   .there = std::string(kMaxAddressBytes, '~'),
                   .machine = kMax,
                   .network = kMax},
          .takes_tls = true,
          .software = text,
          .plugin = text};
}

std::shared_ptr<MemberView> largest_view(size_t count) {
  auto view = std::make_shared<MemberView>();
  view->version = {.epoch = kMax, .counter = kMax};
  for (size_t i = 0; i < count; ++i) {
    view->entries.push_back(largest_entry(static_cast<uint8_t>(i)));
  }
  return view;
}

std::vector<Frame> sample_frames() {
  const ViewVersion latest{.epoch = kMax, .counter = kMax};
  const Refusal refusal{.refused_epoch = kMax, .leader = largest_hint()};
  std::vector<Frame> frames{
      {kOrdinary, ElectionFrame{.kind = ELECTION_MESSAGE_ELECTION, .round = 5}},
      {kOrdinary, ElectionFrame{.kind = ELECTION_MESSAGE_ANSWER,
                                .flags = ELECTION_FLAG_ELECTABLE,
                                .round = 5,
                                .leader = LeaderHint{.id = id_of(8), .epoch = 7}}},
      {kOrdinary, ElectionFrame{.kind = ELECTION_MESSAGE_HANDOVER,
                                .round = 5,
                                .ids = {to_election_id(id_of(1)), to_election_id(id_of(2))}}},
      {kOrdinary, ElectionFrame{.kind = ELECTION_MESSAGE_FIRST_PRIVATE}},
      {kExtreme, largest_election_frame()},
      {kOrdinary, PlannedHandover{}},
      {kOrdinary, PlannedHandover{.version = "4711"}},
      {kExtreme,
       PlannedHandover{.is_appointed = true, .version = std::string(kMaxStoreVersion, '~')}},
      {kOrdinary, Coordinator{}},
      {kExtreme, Coordinator{.is_appointed = true, .score = kMaxScore}},
      {kOrdinary, Refusal{}},
      {kExtreme, refusal},
      {Header{}, Heartbeat{}},
      {kOrdinary, Heartbeat{.sequence = 300}},
      {kOrdinary, Heartbeat{.sequence = 301, .is_draining = true}},
      {kExtreme, Heartbeat{.sequence = kMax, .is_appointed = true, .score = -kMaxScore}},
      {kOrdinary, HeartbeatAck{.sequence = 300, .view = {7, 3}, .is_electable = true}},
      {kExtreme, HeartbeatAck{.sequence = kMax, .view = latest, .refusal = refusal}},
      {kOrdinary, HeartbeatAck{.refusal = Refusal{}}},
      {kOrdinary, Resign{}},
      {kOrdinary, Leave{}},
      {kExtreme, Leave{.boot = kMax}},
      {kOrdinary, MembersFrame{ordinary_view()}},
      {kOrdinary, MembersFrame{std::make_shared<MemberView>()}},
      {kExtreme, MembersFrame{largest_view(100)}},
      {kOrdinary, Wish{.variant = "classic"}},
      {kOrdinary, Wish{}},
      {kOrdinary, Wish{.boot = 7, .revision = 2, .is_electable = true, .score = -42}},
      {kOrdinary, Wish{.boot = 7, .revision = 3, .ability = Ability::kAbsent}},
      {kExtreme, Wish{.variant = std::string(kMaxNameBytes, '~'),
                      .boot = kMax,
                      .revision = kMax,
                      .is_electable = true,
                      .ability = Ability::kLast,
                      .score = kMaxScore}},
  };
  for (Frame& frame : guarded_frames()) frames.push_back(std::move(frame));
  return frames;
}

bool operator==(const Greeting& left, const Greeting& right) {
  return fields(left) == fields(right);
}

bool is_same(const Frame& left, const Frame& right) {
  const auto& [header, body] = left;
  return header == right.header && body == right.body;
}

Bytes encoded(const Greeting& greeting) {
  Bytes bytes;
  Encoder(kGroup).append(greeting, bytes);
  return bytes;
}

Bytes encoded(const Frame& frame) {
  Bytes bytes;
  Encoder(kGroup).append(frame, bytes);
  return bytes;
}

Bytes encoded_stream(const std::vector<Frame>& frames) {
  Bytes bytes = encoded(sample_greeting());
  for (const Frame& frame : frames) Encoder(kGroup).append(frame, bytes);
  return bytes;
}

void repair_checksum(Bytes& frame) {
  const size_t summed = frame.size() - kChecksumBytes;
  store_little_endian(std::span(frame), summed, crc32c(std::span(frame).first(summed)));
}

Bytes raw_frame(uint8_t kind, const std::string& body, const char* group) {
  Bytes frame(kHeaderBytes + body.size() + kChecksumBytes);
  store_little_endian(std::span(frame), kMagicOffset, kFrameMagic);
  frame[kVersionOffset] = kProtocolVersion;
  frame[kKindOffset] = kind;
  store_little_endian(std::span(frame), kLengthOffset, static_cast<uint16_t>(body.size()));
  store_little_endian(std::span(frame), kTagOffset, fnv1a(group));
  std::copy(body.begin(), body.end(), frame.begin() + kHeaderBytes);
  repair_checksum(frame);
  return frame;
}

std::vector<Decoded> decoded(const Bytes& stream, size_t piece) {
  Decoder decoder(kGroup);
  std::vector<Decoded> found;
  if (piece == 0) piece = std::max<size_t>(stream.size(), 1);
  for (size_t start = 0; start < stream.size(); start += piece) {
    const size_t size = std::min(piece, stream.size() - start);
    std::span<const uint8_t> bytes = std::span(stream).subspan(start, size);
    while (true) {
      Decoded next = decoder.next(bytes);
      if (std::holds_alternative<MoreNeeded>(next)) break;
      found.push_back(std::move(next));
      if (std::holds_alternative<FrameError>(found.back())) return found;
    }
  }
  return found;
}

bool is_same(const std::vector<Decoded>& left, const std::vector<Decoded>& right) {
  const auto same = [](const Decoded& a, const Decoded& b) {
    if (a.index() != b.index()) return false;
    if (const auto* frame = std::get_if<Frame>(&a)) return is_same(*frame, std::get<Frame>(b));
    if (const auto* hello = std::get_if<Greeting>(&a)) return *hello == std::get<Greeting>(b);
    if (const auto* words = std::get_if<TurnedAway>(&a)) {
      return words->reason == std::get<TurnedAway>(b).reason;
    }
    if (const auto* error = std::get_if<FrameError>(&a)) {
      return error->flaw == std::get<FrameError>(b).flaw &&
             error->text == std::get<FrameError>(b).text;
    }
    return true;
  };
  return std::ranges::equal(left, right, same);
}

}  // namespace bellwether::io::test
