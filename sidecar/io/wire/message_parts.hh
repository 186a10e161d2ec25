// What more than one message is made of, as protobuf and back.  As in messages.hh, to_wire()
// expects a value within the limits, and from_wire() believes nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.hh"
#include "core/ability.hh"
#include "core/frames.hh"
#include "io/wire/codec.hh"
#include "io/wire/frames.pb.h"

namespace bellwether::io {

// What is wrong with a message, in a static phrase ("a name is too long"); nullptr: nothing, and
// the value is filled in.  Otherwise the value is of no use.
using ValueFlaw = const char*;

inline constexpr size_t kIdBytes = sizeof(Uuid::data);

inline std::string to_wire_id(const Uuid& id) { return {id.begin(), id.end()}; }

inline ValueFlaw from_wire_id(const std::string& bytes, Uuid& id) {
  if (bytes.size() != kIdBytes) return "an id has not 16 bytes";
  std::memcpy(id.data, bytes.data(), kIdBytes);
  return nullptr;
}

inline uint64_t to_wire_ns(Duration duration) {
  check(duration >= Duration::zero() && duration <= kMaxWireDuration,
        "a duration in a frame keeps its limit");
  return static_cast<uint64_t>(duration.count());
}

inline ValueFlaw from_wire_ns(uint64_t ns, Duration& duration) {
  if (ns > static_cast<uint64_t>(kMaxWireDuration.count())) return "a lease or wait is too long";
  duration = Duration(static_cast<Duration::rep>(ns));
  return nullptr;
}

// Of a record in a store; empty when there is none.
inline bool is_valid_version(std::string_view version) {
  return version.size() <= kMaxStoreVersion &&
         std::ranges::all_of(version, [](char letter) { return letter > ' ' && letter < 0x7f; });
}

// A text that may be missing.
inline bool is_valid_remark(std::string_view text) { return text.empty() || is_valid_name(text); }

inline int64_t to_wire_score(int64_t score) {
  check(is_score(score), "a score in a frame keeps its limits");
  return score;
}

inline ValueFlaw from_wire_score(int64_t value, int64_t& score) {
  if (!is_score(value)) return "a score is out of range";
  score = value;
  return nullptr;
}

inline void to_wire(const LeaderHint& hint, wire::LeaderHint& message) {
  message.set_id(to_wire_id(hint.id));
  message.set_epoch(hint.epoch);
  message.set_is_appointed(hint.is_appointed);
  message.set_score(to_wire_score(hint.score));
}

inline ValueFlaw from_wire(const wire::LeaderHint& message, LeaderHint& hint) {
  hint.epoch = message.epoch();
  hint.is_appointed = message.is_appointed();
  if (const ValueFlaw flaw = from_wire_score(message.score(), hint.score)) return flaw;
  return from_wire_id(message.id(), hint.id);
}

// A hint that may be missing.
template <typename Message>
void leader_to_wire(const std::optional<LeaderHint>& leader, Message& message) {
  if (leader) to_wire(*leader, *message.mutable_leader());
}
template <typename Message>
ValueFlaw leader_from_wire(const Message& message, std::optional<LeaderHint>& leader) {
  leader.reset();
  return message.has_leader() ? from_wire(message.leader(), leader.emplace()) : nullptr;
}

// The fields of what claims an epoch.
template <typename Message>
void terms_to_wire(const Terms& terms, Message& message) {
  message.set_voters(terms.voters);
  message.set_lease_ns(to_wire_ns(terms.lease));
}
template <typename Message>
ValueFlaw terms_from_wire(const Message& message, Terms& terms) {
  terms.voters = message.voters();
  return from_wire_ns(message.lease_ns(), terms.lease);
}

// The numbers of Member.liveness in frames.proto.
static_assert(static_cast<int>(Liveness::kAlive) == 0);
static_assert(static_cast<int>(Liveness::kSuspect) == 1);
static_assert(static_cast<int>(Liveness::kDown) == 2);
static_assert(static_cast<int>(Liveness::kLeft) == 3);

// The numbers of Member.ability.
static_assert(static_cast<int>(Ability::kAble) == 0);
static_assert(static_cast<int>(Ability::kAbsent) == 1);
static_assert(static_cast<int>(Ability::kUnhealthy) == 2);

// A later release may know more reasons; whether the application can work is all that counts.
inline Ability from_wire_ability(uint32_t ability) {
  return static_cast<Ability>(std::min(ability, static_cast<uint32_t>(Ability::kLast)));
}

inline void to_wire(const MemberEntry& entry, wire::Member& message) {
  check(is_valid_name(entry.name), "a member's name keeps the limits of frames");
  check(is_valid_address(entry.address), "a member's address keeps the limits of frames");
  message.set_id(to_wire_id(entry.id));
  message.set_name(entry.name);
  message.set_address(entry.address);
  message.set_priority(entry.priority);
  message.set_boot(entry.boot);
  message.set_liveness(static_cast<uint32_t>(entry.liveness));
  message.set_is_electable(entry.is_electable);
  check(is_valid_remark(entry.variant), "a variant's name keeps the limits of frames");
  message.set_variant(entry.variant);
  message.set_score(to_wire_score(entry.score));
  message.set_revision(entry.revision);
  message.set_ability(static_cast<uint32_t>(entry.ability));
  message.set_home(entry.home);
  message.set_lease_ns(to_wire_ns(entry.lease));
}

inline ValueFlaw from_wire(const wire::Member& message, MemberEntry& entry) {
  if (const ValueFlaw flaw = from_wire_id(message.id(), entry.id)) return flaw;
  if (!is_valid_name(message.name())) return "a name is empty, too long or not printable";
  if (!is_valid_address(message.address())) return "an address is too long or not printable";
  if (message.liveness() > static_cast<uint32_t>(Liveness::kLeft)) return "no such liveness";
  entry.name = message.name();
  entry.address = message.address();
  entry.priority = message.priority();
  entry.boot = message.boot();
  entry.liveness = static_cast<Liveness>(message.liveness());
  entry.is_electable = message.is_electable();
  if (!is_valid_remark(message.variant())) return "a variant is too long or not printable";
  entry.variant = message.variant();
  entry.revision = message.revision();
  entry.ability = from_wire_ability(message.ability());
  entry.home = message.home();
  if (const ValueFlaw flaw = from_wire_ns(message.lease_ns(), entry.lease)) return flaw;
  return from_wire_score(message.score(), entry.score);
}

}  // namespace bellwether::io
