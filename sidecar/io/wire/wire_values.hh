// Values of the core as protobuf messages and back.  to_wire() expects values within the limits
// (its callers' business); from_wire() believes nothing.
#pragma once

#include "core/frames.hh"
#include "io/wire/codec.hh"
#include "io/wire/frames.pb.h"

namespace bellwether {

void to_wire(const LeaderHint& hint, wire::LeaderHint& message);
void to_wire(const MemberEntry& entry, wire::Member& message);
void to_wire(const Greeting& greeting, wire::Hello& message);  // but the group
void to_wire(const ElectionFrame& body, wire::PluginMessage& message);
void to_wire(const PlannedHandover& body, wire::PlannedHandover& message);
void to_wire(const Coordinator& body, wire::Coordinator& message);
void to_wire(const Refusal& body, wire::Refusal& message);
void to_wire(const Heartbeat& body, wire::Heartbeat& message);
void to_wire(const HeartbeatAck& body, wire::HeartbeatAck& message);
void to_wire(const Resign& body, wire::Resign& message);
void to_wire(const Leave& body, wire::Leave& message);
void to_wire(const TurnedAway& body, wire::TurnedAway& message);
void to_wire(const Wish& body, wire::Wish& message);
void to_wire(const Canvass& body, wire::Canvass& message);
void to_wire(const CanvassReply& body, wire::CanvassReply& message);
void to_wire(const Grant& body, wire::Grant& message);

// What is wrong with a message, in a static phrase ("a name is too long"); nullptr: nothing, and
// the value is filled in.  Otherwise the value is of no use.
using ValueFlaw = const char*;

ValueFlaw from_wire(const wire::LeaderHint& message, LeaderHint& hint);
ValueFlaw from_wire(const wire::Member& message, MemberEntry& entry);
ValueFlaw from_wire(const wire::Hello& message, Greeting& greeting);  // but the group
ValueFlaw from_wire(const wire::PluginMessage& message, ElectionFrame& body);
ValueFlaw from_wire(const wire::PlannedHandover& message, PlannedHandover& body);
ValueFlaw from_wire(const wire::Coordinator& message, Coordinator& body);
ValueFlaw from_wire(const wire::Refusal& message, Refusal& body);
ValueFlaw from_wire(const wire::Heartbeat& message, Heartbeat& body);
ValueFlaw from_wire(const wire::HeartbeatAck& message, HeartbeatAck& body);
ValueFlaw from_wire(const wire::Resign& message, Resign& body);
ValueFlaw from_wire(const wire::Leave& message, Leave& body);
void from_wire(const wire::TurnedAway& message, TurnedAway& body);  // has no flaws
ValueFlaw from_wire(const wire::Wish& message, Wish& body);
ValueFlaw from_wire(const wire::Canvass& message, Canvass& body);
ValueFlaw from_wire(const wire::CanvassReply& message, CanvassReply& body);
ValueFlaw from_wire(const wire::Grant& message, Grant& body);

// Appends the entries of a part of a view.  A view has at most kMaxMembers.
ValueFlaw append_from_wire(const wire::Members& message, MemberView& view);

}  // namespace bellwether
