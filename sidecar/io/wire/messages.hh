// Each message: its kind, and its value of the core as protobuf and back, field by field.
// to_wire() expects a value within the limits (its callers' business); from_wire() believes
// nothing.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/check.hh"
#include "core/frames.hh"
#include "core/members.hh"
#include "core/promises.hh"
#include "io/wire/codec.hh"
#include "io/wire/frames.pb.h"
#include "io/wire/message_parts.hh"

namespace bellwether::io {

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
  kLast = kGrant,
};

// The kind and the protobuf message that a value goes out as.
template <Kind kValue, typename MessageType>
struct WireType {
  static constexpr Kind kKind = kValue;
  using Message = MessageType;
};

// --- HELLO, but for the group's name ---

inline void to_wire(const ConnectionEnds& ends, wire::Ends& message) {
  check(is_valid_address(ends.here) && is_valid_address(ends.there),
        "the ends of a connection keep the limits of frames");
  message.set_here(ends.here);
  message.set_there(ends.there);
  message.set_machine(ends.machine);
  message.set_network(ends.network);
}

inline ValueFlaw from_wire(const wire::Ends& message, ConnectionEnds& ends) {
  if (!is_valid_address(message.here()) || !is_valid_address(message.there())) {
    return "an end of the connection is too long or not printable";
  }
  ends = {.here = message.here(),
          .there = message.there(),
          .machine = message.machine(),
          .network = message.network()};
  return nullptr;
}

inline void to_wire(const Greeting& greeting, wire::Hello& message) {
  check(is_valid_remark(greeting.software) && is_valid_remark(greeting.plugin),
        "the texts of a greeting keep the limits of frames");
  const Hello& hello = greeting.hello;
  check(hello.remembered.size() <= kMaxRemembered, "a greeting keeps its limit of releases");
  to_wire(hello.self, *message.mutable_self());
  leader_to_wire(hello.leader, message);
  message.set_view_epoch(hello.view.epoch);
  message.set_view_counter(hello.view.counter);
  message.set_software(greeting.software);
  message.set_plugin(greeting.plugin);
  message.set_voters(hello.voters);
  message.set_is_flag_robust(greeting.is_flag_robust);
  message.set_is_inquiry(greeting.is_inquiry);
  message.set_is_tentative(greeting.is_tentative);
  message.set_takes_tls(greeting.takes_tls);
  for (const RememberedRelease& release : hello.remembered) {
    wire::Release& entry = *message.add_remembered();
    entry.set_voter(to_wire_id(release.voter));
    entry.set_epoch(release.epoch);
  }
  if (greeting.ends != ConnectionEnds{}) to_wire(greeting.ends, *message.mutable_ends());
}

inline ValueFlaw from_wire(const wire::Hello& message, Greeting& greeting) {
  if (!is_valid_remark(message.software()) || !is_valid_remark(message.plugin())) {
    return "software or plugin is too long or not printable";
  }
  greeting.software = message.software();
  greeting.plugin = message.plugin();
  greeting.is_flag_robust = message.is_flag_robust();
  greeting.is_inquiry = message.is_inquiry();
  greeting.is_tentative = message.is_tentative();
  greeting.takes_tls = message.takes_tls();
  if (const ValueFlaw flaw = from_wire(message.ends(), greeting.ends)) return flaw;
  Hello& hello = greeting.hello;
  hello.voters = message.voters();
  hello.view = {.epoch = message.view_epoch(), .counter = message.view_counter()};
  if (const ValueFlaw flaw = from_wire(message.self(), hello.self)) return flaw;
  if (message.remembered_size() > static_cast<int>(kMaxRemembered)) return "too many releases";
  for (const wire::Release& entry : message.remembered()) {
    RememberedRelease& release = hello.remembered.emplace_back();
    if (const ValueFlaw flaw = from_wire_id(entry.voter(), release.voter)) return flaw;
    release.epoch = entry.epoch();
  }
  return leader_from_wire(message, hello.leader);
}

// --- TURNED_AWAY ---

WireType<Kind::kTurnedAway, wire::TurnedAway> wire_type(const TurnedAway&);

inline void to_wire(const TurnedAway& body, wire::TurnedAway& message) {
  message.set_reason(static_cast<uint32_t>(body.reason));
}

// A reason of a later release is still a refusal.
inline ValueFlaw from_wire(const wire::TurnedAway& message, TurnedAway& body) {
  const bool is_known = message.reason() <= static_cast<uint32_t>(TurnAwayReason::kLast);
  body.reason = is_known ? static_cast<TurnAwayReason>(message.reason()) : TurnAwayReason::kUnknown;
  return nullptr;
}

// --- MEMBERS; the codec sees to its parts ---

// Appends the entries of a part of a view.  A view has at most kMaxMembers.
inline ValueFlaw append_from_wire(const wire::Members& message, MemberView& view) {
  const auto count = static_cast<size_t>(message.entries_size());
  if (count > kMaxMembers - view.entries.size()) return "more members than a group may have";
  for (const wire::Member& entry : message.entries()) {
    if (const ValueFlaw flaw = from_wire(entry, view.entries.emplace_back())) return flaw;
  }
  return nullptr;
}

// --- a plugin's message ---

WireType<Kind::kPluginMessage, wire::PluginMessage> wire_type(const ElectionFrame&);

inline void to_wire(const ElectionFrame& body, wire::PluginMessage& message) {
  check(is_plugin_message(body.kind), "a plugin's message is of a kind that plugins may send");
  check(body.ids.size() <= kMaxMembers, "a plugin's message names no more ids than members");
  message.set_kind(body.kind);
  message.set_flags(body.flags);
  message.set_round(body.round);
  std::string& ids = *message.mutable_ids();
  ids.reserve(body.ids.size() * kIdBytes);
  for (const election_id& id : body.ids) ids.append(std::begin(id.bytes), std::end(id.bytes));
  leader_to_wire(body.leader, message);
}

inline ValueFlaw from_wire(const wire::PluginMessage& message, ElectionFrame& body) {
  if (!is_plugin_message(message.kind())) return "no such kind of plugin message";
  const std::string& ids = message.ids();
  if (ids.size() % kIdBytes != 0) return "an id has not 16 bytes";
  if (ids.size() > kMaxMembers * kIdBytes) return "too many ids";
  body.kind = message.kind();
  body.flags = message.flags();
  body.round = message.round();
  body.ids.resize(ids.size() / kIdBytes);
  for (size_t i = 0; i < body.ids.size(); ++i) {
    std::memcpy(body.ids[i].bytes, ids.data() + i * kIdBytes, kIdBytes);
  }
  return leader_from_wire(message, body.leader);
}

// --- from leader to leader ---

WireType<Kind::kPlannedHandover, wire::PlannedHandover> wire_type(const PlannedHandover&);

inline void to_wire(const PlannedHandover& body, wire::PlannedHandover& message) {
  check(is_valid_version(body.version), "a store's version keeps the limits of frames");
  message.set_is_appointed(body.is_appointed);
  message.set_version(body.version);
}

inline ValueFlaw from_wire(const wire::PlannedHandover& message, PlannedHandover& body) {
  if (!is_valid_version(message.version())) return "a store's version is too long or not printable";
  body.is_appointed = message.is_appointed();
  body.version = message.version();
  return nullptr;
}

WireType<Kind::kCoordinator, wire::Coordinator> wire_type(const Coordinator&);

inline void to_wire(const Coordinator& body, wire::Coordinator& message) {
  message.set_is_appointed(body.is_appointed);
  message.set_is_planned(body.is_planned);
  message.set_sequence(body.sequence);
  terms_to_wire(body.terms, message);
  message.set_score(to_wire_score(body.score));
}

inline ValueFlaw from_wire(const wire::Coordinator& message, Coordinator& body) {
  body.is_appointed = message.is_appointed();
  body.is_planned = message.is_planned();
  body.sequence = message.sequence();
  if (const ValueFlaw flaw = from_wire_score(message.score(), body.score)) return flaw;
  return terms_from_wire(message, body.terms);
}

WireType<Kind::kResign, wire::Resign> wire_type(const Resign&);

inline void to_wire(const Resign&, wire::Resign&) {}
inline ValueFlaw from_wire(const wire::Resign&, Resign&) { return nullptr; }

// --- the leader's beat, and its answers ---

WireType<Kind::kHeartbeat, wire::Heartbeat> wire_type(const Heartbeat&);

inline void to_wire(const Heartbeat& body, wire::Heartbeat& message) {
  message.set_sequence(body.sequence);
  message.set_is_appointed(body.is_appointed);
  message.set_is_claiming(!body.is_effective);
  message.set_is_planned(body.is_planned);
  message.set_is_draining(body.is_draining);
  terms_to_wire(body.terms, message);
  message.set_score(to_wire_score(body.score));
}

inline ValueFlaw from_wire(const wire::Heartbeat& message, Heartbeat& body) {
  body.sequence = message.sequence();
  body.is_appointed = message.is_appointed();
  body.is_effective = !message.is_claiming();
  body.is_planned = message.is_planned();
  body.is_draining = message.is_draining();
  if (const ValueFlaw flaw = from_wire_score(message.score(), body.score)) return flaw;
  return terms_from_wire(message, body.terms);
}

WireType<Kind::kRefusal, wire::Refusal> wire_type(const Refusal&);

inline void to_wire(const Refusal& body, wire::Refusal& message) {
  message.set_refused_epoch(body.refused_epoch);
  leader_to_wire(body.leader, message);
}

inline ValueFlaw from_wire(const wire::Refusal& message, Refusal& body) {
  body.refused_epoch = message.refused_epoch();
  return leader_from_wire(message, body.leader);
}

WireType<Kind::kHeartbeatAck, wire::HeartbeatAck> wire_type(const HeartbeatAck&);

inline void to_wire(const HeartbeatAck& body, wire::HeartbeatAck& message) {
  message.set_sequence(body.sequence);
  message.set_view_epoch(body.view.epoch);
  message.set_view_counter(body.view.counter);
  message.set_is_electable(body.is_electable);
  if (body.refusal) to_wire(*body.refusal, *message.mutable_refusal());
  message.set_promised_epoch(body.promised_epoch);
}

inline ValueFlaw from_wire(const wire::HeartbeatAck& message, HeartbeatAck& body) {
  body.sequence = message.sequence();
  body.view = {.epoch = message.view_epoch(), .counter = message.view_counter()};
  body.is_electable = message.is_electable();
  body.promised_epoch = message.promised_epoch();
  body.refusal.reset();
  return message.has_refusal() ? from_wire(message.refusal(), body.refusal.emplace()) : nullptr;
}

// --- what a member says of itself ---

WireType<Kind::kLeave, wire::Leave> wire_type(const Leave&);

inline void to_wire(const Leave& body, wire::Leave& message) { message.set_boot(body.boot); }

inline ValueFlaw from_wire(const wire::Leave& message, Leave& body) {
  body.boot = message.boot();
  return nullptr;
}

WireType<Kind::kWish, wire::Wish> wire_type(const Wish&);

inline void to_wire(const Wish& body, wire::Wish& message) {
  check(is_valid_remark(body.variant), "a variant's name keeps the limits of frames");
  message.set_variant(body.variant);
  message.set_boot(body.boot);
  message.set_revision(body.revision);
  message.set_is_electable(body.is_electable);
  message.set_ability(static_cast<uint32_t>(body.ability));
  message.set_score(to_wire_score(body.score));
}

inline ValueFlaw from_wire(const wire::Wish& message, Wish& body) {
  if (!is_valid_remark(message.variant())) return "a variant is too long or not printable";
  body.variant = message.variant();
  body.boot = message.boot();
  body.revision = message.revision();
  body.is_electable = message.is_electable();
  body.ability = from_wire_ability(message.ability());
  return from_wire_score(message.score(), body.score);
}

// --- candidates and voters ---

WireType<Kind::kCanvass, wire::Canvass> wire_type(const Canvass&);

inline void to_wire(const Canvass& body, wire::Canvass& message) {
  message.set_number(body.number);
  message.set_voters(body.voters);
  message.set_is_lost(body.is_lost);
  message.set_is_planned(body.is_planned);
  message.set_is_take_over(body.is_take_over);
  message.set_score(body.score);
  message.set_holder_boot(body.holder_boot);
}

inline ValueFlaw from_wire(const wire::Canvass& message, Canvass& body) {
  body.number = message.number();
  body.voters = message.voters();
  body.is_lost = message.is_lost();
  body.is_planned = message.is_planned();
  body.is_take_over = message.is_take_over();
  body.holder_boot = message.holder_boot();
  return from_wire_score(message.score(), body.score);
}

WireType<Kind::kCanvassReply, wire::CanvassReply> wire_type(const CanvassReply&);

inline void to_wire(const CanvassReply& body, wire::CanvassReply& message) {
  message.set_number(body.number);
  message.set_is_yes(body.is_yes);
  message.set_is_lost(body.is_lost);
  message.set_wait_ns(to_wire_ns(body.wait));
  message.set_has_proof(body.has_proof);
  leader_to_wire(body.leader, message);
}

inline ValueFlaw from_wire(const wire::CanvassReply& message, CanvassReply& body) {
  body.number = message.number();
  body.is_yes = message.is_yes();
  body.is_lost = message.is_lost();
  body.has_proof = message.has_proof();
  if (const ValueFlaw flaw = from_wire_ns(message.wait_ns(), body.wait)) return flaw;
  return leader_from_wire(message, body.leader);
}

WireType<Kind::kGrant, wire::Grant> wire_type(const Grant&);

inline void to_wire(const Grant& body, wire::Grant& message) {
  check(body.waits.size() <= Promises::kMax, "a grant names no more promises than a voter makes");
  message.set_epoch(body.epoch);
  message.set_is_granted(body.is_granted);
  message.set_sequence(body.sequence);
  for (const Wait& wait : body.waits) {
    wire::Wait& entry = *message.add_waits();
    entry.set_leader(to_wire_id(wait.leader));
    entry.set_epoch(wait.epoch);
    entry.set_left_ns(to_wire_ns(wait.left));
  }
  message.set_boot_wait_ns(to_wire_ns(body.boot_wait));
  leader_to_wire(body.leader, message);
}

inline ValueFlaw from_wire(const wire::Grant& message, Grant& body) {
  if (message.waits_size() > static_cast<int>(Promises::kMax)) return "too many waits";
  body.epoch = message.epoch();
  body.is_granted = message.is_granted();
  body.sequence = message.sequence();
  for (const wire::Wait& entry : message.waits()) {
    Wait& wait = body.waits.emplace_back();
    if (const ValueFlaw flaw = from_wire_id(entry.leader(), wait.leader)) return flaw;
    wait.epoch = entry.epoch();
    if (const ValueFlaw flaw = from_wire_ns(entry.left_ns(), wait.left)) return flaw;
  }
  if (const ValueFlaw flaw = from_wire_ns(message.boot_wait_ns(), body.boot_wait)) return flaw;
  return leader_from_wire(message, body.leader);
}

// After all of them, for it finds those that stand before it.
template <typename Body>
using WireOf = decltype(wire_type(std::declval<Body>()));

}  // namespace bellwether::io
