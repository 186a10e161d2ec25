// What must hold of a node at every moment, whatever happens to it.  All in one place: of one
// state, of the change that one step makes, and of the order of its effects.
//
// SelfCheck (self_check.hh) asks for all of them after every step; the numbers in brackets are
// those of the table "Invariants" in ARCHITECTURE.md.
#pragma once

#include <optional>
#include <string>

#include "core/effects.hh"
#include "core/node.hh"

namespace bellwether {

// The part of a node's state that the next step is compared with.
struct NodeSummary {
  bool is_leading = false;
  bool is_claiming = false;
  bool is_handing_over = false;
  std::optional<LeaderHint> leader;
  uint64_t max_epoch = 0;
  uint64_t sequence = 0;
  Uuid granted_to{};
  Duration lease_seen{};
  Duration voted_lease{};  // of the claim that has this voter's vote

  explicit NodeSummary(const Node& node)
      : is_leading(node.is_leading()),
        is_claiming(node.is_claiming() || (node.store() != nullptr && node.store()->claim)),
        is_handing_over(node.is_handing_over()),
        leader(node.leader()),
        max_epoch(node.record().max_epoch),
        sequence(node.sequence()),
        granted_to(node.record().granted_to),
        lease_seen(node.record().lease_seen),
        voted_lease(node.majority() != nullptr ? node.majority()->voter.terms().lease
                                               : Duration{}) {}
};

// Each returns what is broken, in words, or nothing.
std::optional<std::string> broken_by_state(const Node& node);
std::optional<std::string> broken_by_change(const NodeSummary& before, const NodeSummary& after);
std::optional<std::string> broken_by_effects(const NodeSummary& before, const Effects& effects);

// Of guard "majority"; `node` is in the state after the step that was made at `now` and had these
// effects.  What a voter says, and what a leader publishes, is covered by what it has.
std::optional<std::string> broken_by_promises(const NodeSummary& before, const Node& node,
                                              Instant now, const Effects& effects);
std::optional<std::string> broken_by_missing_lease(const Node& node);
std::optional<std::string> broken_by_lease(const Node& node, Instant now, const Effects& effects);

}  // namespace bellwether
