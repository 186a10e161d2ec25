// The bookkeeping of elections.
#include "metrics/election_meter.hh"

#include <utility>

namespace bellwether::metrics {
namespace {

// Of an election for want of a leader, which has gone for this reason.
Trigger trigger_of(Why why) {
  switch (why) {
    case Why::kLeaderLost:
      return Trigger::kLeaderLost;
    case Why::kLeaderResigned:
      return Trigger::kResigned;
    case Why::kApplicationLost:
      return Trigger::kApplicationLost;
    case Why::kApplicationUnhealthy:
      return Trigger::kApplicationUnhealthy;
    default:
      return Trigger::kRetry;
  }
}

}  // namespace

void ElectionMeter::on_received(FrameType type) {
  is_asked_ = type == FrameType::kElection || type == FrameType::kHandover;
  is_given_place_ = type == FrameType::kHandover;
  is_commanded_ = false;
  // A node answers before it takes part, so both are counted before the election begins.
  messages_before_ = {};
  (is_running() ? election_.messages : messages_before_).count(type);
}

void ElectionMeter::on_sent(FrameType type) {
  if (granted_) return granted_->messages.count(type);
  (is_running() ? election_.messages : messages_before_).count(type);
}

void ElectionMeter::on_command() {
  is_commanded_ = true;
  is_asked_ = false;
}

void ElectionMeter::on_leader_change(Instant now, bool is_leader_known, bool is_leader, Why why) {
  is_leader_known_ = is_leader_known;
  is_asked_ = false;
  is_commanded_ = false;
  if (is_leader_known) {
    if (is_running() && !has_new_leader_) election_.duration = now - began_;
    has_new_leader_ = true;
    is_won_ = is_leader;
    if (granted_ && !granted_->duration) {
      granted_->result = is_leader ? Result::kWon : Result::kFollowed;
      granted_->duration = now - began_;
    }
  } else {
    has_new_leader_ = false;
    has_place_ = is_given_place_ && why == Why::kLeaderResigned;
    if_leaderless_ = trigger_of(why);
  }
}

std::optional<ElectionSummary> ElectionMeter::on_state(Instant now, uint32_t state) {
  const bool was_running = is_running();
  // One more, and nothing came of the place that was given.
  std::optional<ElectionSummary> ended;
  if (!was_running && state != ELECTION_STATE_IDLE) {
    ended = std::exchange(granted_, std::nullopt);
    begin(now);
  }
  state_ = state;
  if (!was_running || is_running()) return ended;
  ended = end();
  if (ended->result == Result::kAbandoned && std::exchange(has_place_, false)) {
    std::swap(granted_, ended);
  }
  return ended;
}

std::optional<ElectionSummary> ElectionMeter::take_granted() {
  if (!granted_ || !granted_->duration) return std::nullopt;
  return std::exchange(granted_, std::nullopt);
}

void ElectionMeter::begin(Instant now) {
  election_ = {.trigger = trigger()};
  if (election_.trigger == Trigger::kAsked) election_.messages = messages_before_;
  began_ = now;
  has_new_leader_ = false;
}

ElectionSummary ElectionMeter::end() {
  if (has_new_leader_) {
    election_.result = is_won_ ? Result::kWon : Result::kFollowed;
  } else {
    election_.duration.reset();
    election_.result = is_leader_known_ ? Result::kKept : Result::kAbandoned;
  }
  is_asked_ = false;
  if (!is_leader_known_) if_leaderless_ = Trigger::kRetry;
  return election_;
}

// The core asks the plugin for an election with a reason, but its report does not name it; so it
// follows from what happened last.  Without a command and a question it was a timer, and with a
// leader there is one only for the node that outranks it.
Trigger ElectionMeter::trigger() const {
  if (is_commanded_) return Trigger::kOperator;
  if (is_asked_) return Trigger::kAsked;
  return is_leader_known_ ? Trigger::kOutranks : if_leaderless_;
}

}  // namespace bellwether::metrics
