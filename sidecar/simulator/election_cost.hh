// What one election that nothing disturbs may cost at most, message by message: what the plugin
// says of a group in which everybody lives and is asked; and what the guard adds.
#pragma once

#include <optional>
#include <string>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

class ElectionBounds {
 public:
  // One process begins in a group at rest of so many `members`, dead ones included.  `voters`: 0
  // without them; `has_store`: a guard on a store.  nullopt: the plugin does not say what `variant`
  // costs.
  static std::optional<ElectionBounds> of(const election_plugin& plugin, const std::string& variant,
                                          uint32_t members, uint32_t voters,
                                          bool has_store = false);

  // The most claims that may become effective; after more it was not one election.
  uint64_t claims() const { return claims_; }

  // The most of this kind; no limit for what does not belong to elections.
  std::optional<uint64_t> messages(FrameType type) const;

  // Which kind was sent too often, and how often; nothing when none was.
  std::optional<std::string> broken_by(const MessageCounts& sent) const;

 private:
  election_cost cost_{};
  uint64_t claims_ = 1;
  uint64_t asked_ = 0;   // for their opinion: the other voters; where a store decides, all others
  uint64_t places_ = 0;  // and the leader for its place, where that is another question
};

}  // namespace bellwether::simulator
