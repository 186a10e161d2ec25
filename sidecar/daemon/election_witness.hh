// What the winner of an election has seen of it: who asked, whom it told, who led before.  From
// that follows what it would have cost by each variant (plugin_facts.hh).  It only watches.
#pragma once

#include <optional>
#include <set>

#include "core/effects.hh"
#include "core/members.hh"
#include "core/plugin_facts.hh"

namespace bellwether::daemon {

class ElectionWitness {
 public:
  // `members` is the node's and outlives this.
  explicit ElectionWitness(const Members& members) : members_(members) {}

  // For each frame, before the node is told.
  void on_received(const Uuid& from, FrameType type);
  // For each effect, in order.
  void on_effect(const Effect& effect);

  // Of the election that this node has just won, until the next one begins.  `was_asked`: its part
  // began with a peer's ELECTION or HANDOVER.  `asks_suspected`: the group's setting.
  ElectionCase seen(bool was_asked, bool asks_suspected) const;

 private:
  void begin();

  const Members& members_;
  std::optional<Uuid> last_leader_;  // that was published
  bool is_running_ = false;          // this node has a part in an election
  std::optional<Uuid> asker_;        // the last before the election began
  std::optional<Uuid> lowest_;       // that asked while it ran
  std::optional<Uuid> predecessor_;  // who led before it began
  std::set<Uuid> told_;              // whom this node sent COORDINATOR
};

}  // namespace bellwether::daemon
