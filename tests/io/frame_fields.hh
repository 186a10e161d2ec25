// The fields of each message, and of what messages are made of.  A new field does not compile
// before it has its place here; by that place it is compared, and a sample is asked for.
#pragma once

#include <bellwether/election_plugin.h>

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "core/frames.hh"
#include "io/wire/codec.hh"

inline bool operator==(const election_id& left, const election_id& right) {
  return std::ranges::equal(left.bytes, right.bytes);
}

namespace bellwether {

inline auto fields(const LeaderHint& hint) {
  const auto& [id, epoch, is_appointed, score] = hint;
  return std::tie(id, epoch, is_appointed, score);
}
inline auto fields(const Terms& terms) {
  const auto& [voters, lease] = terms;
  return std::tie(voters, lease);
}
inline auto fields(const Wait& wait) {
  const auto& [leader, epoch, left] = wait;
  return std::tie(leader, epoch, left);
}
inline auto fields(const ElectionFrame& frame) {
  const auto& [kind, flags, round, ids, leader] = frame;
  return std::tie(kind, flags, round, ids, leader);
}
inline auto fields(const PlannedHandover& handover) {
  const auto& [is_appointed, version] = handover;
  return std::tie(is_appointed, version);
}
inline auto fields(const Coordinator& claim) {
  const auto& [is_appointed, is_planned, sequence, terms, score] = claim;
  return std::tie(is_appointed, is_planned, sequence, terms, score);
}
inline auto fields(const Refusal& refusal) {
  const auto& [refused_epoch, leader] = refusal;
  return std::tie(refused_epoch, leader);
}
inline auto fields(const Heartbeat& beat) {
  const auto& [sequence, is_appointed, is_effective, is_planned, is_draining, terms, score] = beat;
  return std::tie(sequence, is_appointed, is_effective, is_planned, is_draining, terms, score);
}
inline auto fields(const HeartbeatAck& ack) {
  const auto& [sequence, promised_epoch, view, is_electable, refusal] = ack;
  return std::tie(sequence, promised_epoch, view, is_electable, refusal);
}
inline auto fields(const Leave& leave) {
  const auto& [boot] = leave;
  return std::tie(boot);
}
inline auto fields(const Wish& wish) {
  const auto& [variant, boot, revision, is_electable, ability, score] = wish;
  return std::tie(variant, boot, revision, is_electable, ability, score);
}
inline auto fields(const Canvass& canvass) {
  const auto& [number, voters, is_lost, is_planned, is_take_over, score, holder_boot] = canvass;
  return std::tie(number, voters, is_lost, is_planned, is_take_over, score, holder_boot);
}
inline auto fields(const CanvassReply& reply) {
  const auto& [number, is_yes, is_lost, leader, wait, has_proof] = reply;
  return std::tie(number, is_yes, is_lost, leader, wait, has_proof);
}
inline auto fields(const Grant& grant) {
  const auto& [epoch, is_granted, sequence, waits, boot_wait, leader] = grant;
  return std::tie(epoch, is_granted, sequence, waits, boot_wait, leader);
}
inline auto fields(const Header& header) {
  const auto& [epoch, released] = header;
  return std::tie(epoch, released);
}
inline auto fields(const Hello& hello) {
  const auto& [header, self, leader, view, voters, remembered] = hello;
  return std::tie(header, self, leader, view, voters, remembered);
}
inline auto fields(const MemberEntry& entry) {
  const auto& [id, name, address, priority, boot, home, lease, liveness, is_electable, variant,
               ability, score, revision] = entry;
  return std::tie(id, name, address, priority, boot, home, lease, liveness, is_electable, variant,
                  ability, score, revision);
}
inline auto fields(const MembersFrame& frame) {
  const auto& [view] = frame;
  const auto& [version, entries] = *view;
  return std::tie(version, entries);
}
inline auto fields(const Resign&) {
  static_assert(std::is_empty_v<Resign>);
  return std::tuple();
}

// Of what has no comparison of its own.
template <typename Struct>
bool operator==(const Struct& left, const Struct& right) requires requires {
  fields(left);
}
{ return fields(left) == fields(right); }

}  // namespace bellwether

namespace bellwether::io {

inline auto fields(const ConnectionEnds& sockets) {
  const auto& [here, there, machine, network] = sockets;
  return std::tie(here, there, machine, network);
}
inline auto fields(const Greeting& greeting) {
  const auto& [hello, is_flag_robust, is_inquiry, is_tentative, ends, takes_tls, software, plugin] =
      greeting;
  return std::tie(hello, is_flag_robust, is_inquiry, is_tentative, ends, takes_tls, software,
                  plugin);
}

}  // namespace bellwether::io
