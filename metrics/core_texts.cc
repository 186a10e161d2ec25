// The core's texts.
#include "metrics/core_texts.hh"

#include <bellwether/election_plugin.h>

#include <algorithm>
#include <array>

namespace bellwether::metrics {
namespace {

template <typename Label>
struct Row {
  std::string_view text;
  Label label;
};

constexpr std::array kRejections = {
    Row<Rejection>{"a peer has the id of this process", Rejection::kOwnId},
    Row<Rejection>{"epoch too far ahead", Rejection::kEpochTooFar},
    Row<Rejection>{"its [voters] are not this node's", Rejection::kOtherVoters},
    Row<Rejection>{"sender is not connected", Rejection::kNotConnected},
    Row<Rejection>{"the group is full", Rejection::kGroupFull},
};

constexpr std::array kLeaderChanges = {
    Row<LeaderChange>{"a leader was announced", LeaderChange::kAnnounced},
    Row<LeaderChange>{"another leads by right", LeaderChange::kYielded},
    Row<LeaderChange>{"claimed", LeaderChange::kClaimed},
    Row<LeaderChange>{"claims", LeaderChange::kSuperseded},
    Row<LeaderChange>{"claims anew", LeaderChange::kYielded},
    Row<LeaderChange>{"granted a claim", LeaderChange::kSuperseded},
    Row<LeaderChange>{"handed over", LeaderChange::kHandedOver},
    Row<LeaderChange>{"it granted a newer claim", LeaderChange::kYielded},
    Row<LeaderChange>{"its state is an older one", LeaderChange::kOther},  // than it was
    Row<LeaderChange>{"left the group", LeaderChange::kLeft},
    Row<LeaderChange>{"no majority answers", LeaderChange::kNoMajority},
    Row<LeaderChange>{"nobody took over", LeaderChange::kHandedOver},
    Row<LeaderChange>{"started", LeaderChange::kOther},  // no leader, before and after
    Row<LeaderChange>{"the leader resigned", LeaderChange::kResigned},
    Row<LeaderChange>{"the leader was lost", LeaderChange::kLost},
    Row<LeaderChange>{"the plugin failed", LeaderChange::kPluginFailed},
};

template <typename Rows>
auto find(const Rows& rows, std::string_view text) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.text == text; });
  return found == rows.end() ? std::nullopt : std::optional(found->label);
}

}  // namespace

std::optional<Phase> phase_of(std::string_view text, uint32_t election_state) {
  if (text == "heartbeat") return Phase::kHeartbeat;
  if (text == "join") return Phase::kJoin;
  if (text == "handover") return Phase::kHandover;
  if (text == "canvass") return Phase::kCanvass;
  if (text == "claim") return Phase::kClaim;
  if (text == "lease") return Phase::kLease;
  if (text != "election") return std::nullopt;
  switch (election_state) {
    case ELECTION_STATE_COLLECTING:
      return Phase::kAnswer;
    case ELECTION_STATE_WAITING:
    case ELECTION_STATE_HALTED:
      return Phase::kCoordinator;
    default:
      return Phase::kElection;
  }
}

Rejection rejection_of(std::string_view text) {
  return find(kRejections, text).value_or(Rejection::kOther);
}

std::optional<FrameType> frame_type_of(std::string_view text) {
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    if (text == name(type)) return type;
  }
  return std::nullopt;
}

LeaderChange leader_change_of(std::string_view reason) {
  return find(kLeaderChanges, reason).value_or(LeaderChange::kOther);
}

bool is_known_publish_reason(std::string_view reason) {
  return find(kLeaderChanges, reason).has_value();
}

}  // namespace bellwether::metrics
