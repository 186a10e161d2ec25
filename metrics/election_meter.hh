// Follows this node's part in one election after the other: it begins when the plugin leaves
// ELECTION_STATE_IDLE and ends when it is idle again.  What the plugin does in between, also if it
// asks all over again, is one election.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <optional>

#include "base/clock.hh"
#include "core/frames.hh"
#include "metrics/labels.hh"

namespace bellwether::metrics {

// The messages that the papers count, attempts to send included.
struct MessageCounts {
  uint64_t election = 0;
  uint64_t answer = 0;
  uint64_t handover = 0;
  uint64_t coordinator = 0;

  // A message of another type is left out.
  void count(FrameType type) {
    election += type == FrameType::kElection ? 1 : 0;
    answer += type == FrameType::kAnswer ? 1 : 0;
    handover += type == FrameType::kHandover ? 1 : 0;
    coordinator += type == FrameType::kCoordinator ? 1 : 0;
  }
  uint64_t total() const { return election + answer + handover + coordinator; }
};

struct ElectionSummary {
  Trigger trigger{};
  Result result{};
  MessageCounts messages{};
  std::optional<Duration> duration{};  // until the new leader was published, if one was
};

class ElectionMeter {
 public:
  // Before the node is told.
  void on_received(FrameType type);
  // An attempt counts.
  void on_sent(FrameType type);
  // The node answered Elect or another command of the operator with "done".
  void on_command();
  // The leader became another one (`why`), or none.
  void on_leader_change(Instant now, bool is_leader_known, bool is_leader, Why why);
  // The plugin entered `state`.  Returns the election that ended with it; not one whose winner the
  // leader has just given its place to, which is over for the plugin before anybody leads.
  std::optional<ElectionSummary> on_state(Instant now, uint32_t state);
  // That one, once somebody leads.
  std::optional<ElectionSummary> take_granted();

 private:
  bool is_running() const { return state_ != ELECTION_STATE_IDLE; }
  void begin(Instant now);
  ElectionSummary end();
  Trigger trigger() const;

  uint32_t state_ = ELECTION_STATE_IDLE;  // ELECTION_STATE_*
  bool is_leader_known_ = false;

  // The running election.
  ElectionSummary election_;
  Instant began_{};
  bool has_new_leader_ = false;
  bool is_won_ = false;
  // Its winner was given the place; over once there is a result.
  std::optional<ElectionSummary> granted_;

  // For the next one.
  MessageCounts messages_before_;              // what came last, and what was said to it
  bool is_asked_ = false;                      // what came last asks for an election
  bool is_given_place_ = false;                // what came last was a HANDOVER
  bool has_place_ = false;                     // and it ended the leader's reign
  bool is_commanded_ = false;                  // what happened last was a command
  Trigger if_leaderless_ = Trigger::kStarted;  // why there is no leader
};

}  // namespace bellwether::metrics
