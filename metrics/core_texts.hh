// The core's reports name what happened in static texts; here they become labels.  A test compares
// the lists with the core's source.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/frames.hh"
#include "metrics/labels.hh"

namespace bellwether::metrics {

// Report::kTimeout.  What the plugin waited for follows from its state (ELECTION_STATE_*).
std::optional<Phase> phase_of(std::string_view text, uint32_t election_state);

// Report::kRejected; kOther when it is not known.
Rejection rejection_of(std::string_view text);

// Report::kStale.
std::optional<FrameType> frame_type_of(std::string_view text);

// Publish::reason; kOther when it is not known.
LeaderChange leader_change_of(std::string_view reason);
bool is_known_publish_reason(std::string_view reason);

}  // namespace bellwether::metrics
