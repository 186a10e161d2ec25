// How frames are counted and called.
#include "core/frames.hh"

#include <bellwether/election_plugin.h>

namespace bellwether {
namespace {

struct TypeOf {
  FrameType operator()(const ElectionFrame& frame) const {
    switch (frame.kind) {
      case ELECTION_MESSAGE_ELECTION:
        return FrameType::kElection;
      case ELECTION_MESSAGE_ANSWER:
        return FrameType::kAnswer;
      case ELECTION_MESSAGE_HANDOVER:
        return FrameType::kHandover;
      default:
        return FrameType::kPrivate;
    }
  }
  FrameType operator()(const PlannedHandover&) const { return FrameType::kHandover; }
  FrameType operator()(const Coordinator&) const { return FrameType::kCoordinator; }
  FrameType operator()(const Refusal&) const { return FrameType::kRefusal; }
  FrameType operator()(const Heartbeat&) const { return FrameType::kHeartbeat; }
  FrameType operator()(const HeartbeatAck&) const { return FrameType::kHeartbeatAck; }
  FrameType operator()(const Resign&) const { return FrameType::kResign; }
  FrameType operator()(const Leave&) const { return FrameType::kLeave; }
  FrameType operator()(const MembersFrame&) const { return FrameType::kMembers; }
  FrameType operator()(const Wish&) const { return FrameType::kWish; }
  FrameType operator()(const Canvass&) const { return FrameType::kCanvass; }
  FrameType operator()(const CanvassReply&) const { return FrameType::kCanvassReply; }
  FrameType operator()(const Grant&) const { return FrameType::kGrant; }
};

}  // namespace

FrameType type_of(const Frame& frame) { return std::visit(TypeOf{}, frame.body); }

const char* name(FrameType type) {
  static constexpr Names<FrameType> kNames(
      {"ELECTION", "ANSWER", "HANDOVER", "COORDINATOR", "PRIVATE", "REFUSAL", "HEARTBEAT",
       "HEARTBEAT_ACK", "RESIGN", "LEAVE", "MEMBERS", "WISH", "CANVASS", "CANVASS_REPLY", "GRANT"});
  return kNames[type];
}

bool is_election_type(FrameType type) { return type <= FrameType::kCoordinator; }

}  // namespace bellwether
