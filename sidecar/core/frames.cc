// How frames are counted.
#include "core/frames.hh"

namespace bellwether {
namespace {

template <typename Body>
FrameType type_of_body(const Body& /*body*/) {
  return Body::kType;
}

FrameType type_of_body(const ElectionFrame& frame) {
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

}  // namespace

FrameType type_of(const Frame& frame) {
  return std::visit([](const auto& body) { return type_of_body(body); }, frame.body);
}

}  // namespace bellwether
