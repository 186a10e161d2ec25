// The texts of the labels' values.
#include "metrics/labels.hh"

#include "io/wire/codec.hh"

namespace bellwether::metrics {

const char* name(Direction direction) {
  switch (direction) {
    case Direction::kSent:
      return "sent";
    case Direction::kReceived:
      return "received";
    case Direction::kUndeliverable:
      return "undeliverable";
  }
  return "?";
}

const char* name(ByteDirection direction) {
  switch (direction) {
    case ByteDirection::kSent:
      return "sent";
    case ByteDirection::kReceived:
      return "received";
  }
  return "?";
}

const char* name(Trigger trigger) {
  switch (trigger) {
    case Trigger::kStarted:
      return "started";
    case Trigger::kLeaderLost:
      return "leader_lost";
    case Trigger::kResigned:
      return "resigned";
    case Trigger::kOutranks:
      return "outranks";
    case Trigger::kOperator:
      return "operator";
    case Trigger::kRetry:
      return "retry";
    case Trigger::kAsked:
      return "asked";
  }
  return "?";
}

const char* name(Result result) {
  switch (result) {
    case Result::kWon:
      return "won";
    case Result::kFollowed:
      return "followed";
    case Result::kKept:
      return "kept";
    case Result::kAbandoned:
      return "abandoned";
  }
  return "?";
}

const char* name(ElectionType type) {
  switch (type) {
    case ElectionType::kElection:
      return name(FrameType::kElection);
    case ElectionType::kAnswer:
      return name(FrameType::kAnswer);
    case ElectionType::kHandover:
      return name(FrameType::kHandover);
    case ElectionType::kCoordinator:
      return name(FrameType::kCoordinator);
    case ElectionType::kPrivate:
      return name(FrameType::kPrivate);
  }
  return "?";
}

const char* name(ShadowResult result) {
  switch (result) {
    case ShadowResult::kCounted:
      return "counted";
    case ShadowResult::kOnHold:
      return "on_hold";
  }
  return "?";
}

const char* name(Rejection rejection) {
  switch (rejection) {
    case Rejection::kBadMagic:
      return "bad_magic";
    case Rejection::kBadVersion:
      return "bad_version";
    case Rejection::kForeignGroup:
      return "foreign_group";
    case Rejection::kOversized:
      return "oversized";
    case Rejection::kBadChecksum:
      return "bad_checksum";
    case Rejection::kMalformed:
      return "malformed";
    case Rejection::kTooEarly:
      return "too_early";
    case Rejection::kUnexpectedHello:
      return "unexpected_hello";
    case Rejection::kUnknownKind:
      return "unknown_kind";
    case Rejection::kOwnId:
      return "own_id";
    case Rejection::kDuplicateId:
      return "duplicate_id";
    case Rejection::kDuplicateName:
      return "duplicate_name";
    case Rejection::kTurnedAway:
      return "turned_away";
    case Rejection::kOther:
      return "other";
  }
  return "?";
}

Rejection rejection_of(FrameFlaw flaw) {
  switch (flaw) {
    case FrameFlaw::kBadMagic:
      return Rejection::kBadMagic;
    case FrameFlaw::kBadVersion:
      return Rejection::kBadVersion;
    case FrameFlaw::kForeignGroup:
      return Rejection::kForeignGroup;
    case FrameFlaw::kOversized:
      return Rejection::kOversized;
    case FrameFlaw::kBadChecksum:
      return Rejection::kBadChecksum;
    case FrameFlaw::kMalformed:
      return Rejection::kMalformed;
    case FrameFlaw::kTooEarly:
      return Rejection::kTooEarly;
    case FrameFlaw::kUnexpectedHello:
      return Rejection::kUnexpectedHello;
  }
  return Rejection::kOther;
}

const char* name(HookResult result) {
  switch (result) {
    case HookResult::kDelivered:
      return "delivered";
    case HookResult::kFailed:
      return "failed";
    case HookResult::kGone:
      return "gone";
    case HookResult::kSuperseded:
      return "superseded";
  }
  return "?";
}

const char* name(Reload reload) {
  switch (reload) {
    case Reload::kApplied:
      return "applied";
    case Reload::kRefused:
      return "refused";
  }
  return "?";
}

const char* name(Doubt doubt) {
  switch (doubt) {
    case Doubt::kBetween:
      return "between";
    case Doubt::kTogether:
      return "together";
    case Doubt::kSilent:
      return "silent";
    case Doubt::kListening:
      return "listening";
  }
  return "?";
}

const char* name(Limit limit) {
  switch (limit) {
    case Limit::kInputQueue:
      return "input_queue";
    case Limit::kSendQueue:
      return "send_queue";
    case Limit::kPeerConnections:
      return "peer_connections";
    case Limit::kHttpConnections:
      return "http_connections";
    case Limit::kHttpHeader:
      return "http_header";
    case Limit::kHttpBody:
      return "http_body";
    case Limit::kHttpIdle:
      return "http_idle";
    case Limit::kHttpUnsent:
      return "http_unsent";
    case Limit::kEventStreams:
      return "event_streams";
    case Limit::kLongPolls:
      return "long_polls";
    case Limit::kLogLines:
      return "log_lines";
  }
  return "?";
}

}  // namespace bellwether::metrics
