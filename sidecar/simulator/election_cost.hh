// What one election that nothing disturbs may cost at most, message by message: as the closed forms
// of message_table.hh, but for a group of which everybody may live; and what guard "majority" adds.
#pragma once

#include <optional>
#include <string>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

// An election that one process has begun, in a group at rest.
struct ElectionSize {
  bool is_classic = false;  // else modified
  uint64_t members = 1;     // that are known, dead ones included
  uint64_t voters = 0;      // 0: guard "none"
};

// The most claims that may become effective; after more it was not one election.
uint64_t most_claims(const ElectionSize& size);

// The most of this kind; no limit for what does not belong to elections.
std::optional<uint64_t> most_messages(const ElectionSize& size, FrameType type);

// Which kind was sent too often, and how often; nothing when none was.
std::optional<std::string> broken_by_cost(const ElectionSize& size, const MessageCounts& sent);

}  // namespace bellwether::simulator
