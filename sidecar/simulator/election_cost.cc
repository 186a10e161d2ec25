// [I11] of the table "Invariants" in ARCHITECTURE.md.
#include "simulator/election_cost.hh"

#include <algorithm>

#include "core/plugin_facts.hh"

namespace bellwether::simulator {

std::optional<ElectionBounds> ElectionBounds::of(const election_plugin& plugin,
                                                 const std::string& variant, uint32_t members,
                                                 uint32_t voters, bool has_store) {
  ElectionCase worst;
  worst.members.resize(members, {.marks = ELECTION_MEMBER_ELECTABLE});
  const auto cost = price_of(plugin, variant, worst);
  if (!cost) return std::nullopt;
  ElectionBounds bounds;
  bounds.cost_ = *cost;
  // The highest, which has nobody to wait for, announces itself to each that asks it.
  if (members > 1) {
    worst.members.pop_back();
    const auto without_it = price_of(plugin, variant, worst).value_or(election_cost{});
    bounds.claims_ = std::max(bounds.claims_, cost->election - without_it.election);
  }
  bounds.asked_ = voters == 0 ? 0 : voters - 1;
  if (has_store) bounds.asked_ = members - 1;
  bounds.places_ = has_store ? 0 : 1;
  return bounds;
}

std::optional<uint64_t> ElectionBounds::messages(FrameType type) const {
  switch (type) {
    case FrameType::kElection:
      return cost_.election;
    case FrameType::kAnswer:
      return cost_.answer;
    case FrameType::kHandover:
      return cost_.handover + 1;  // by the leader, to whoever has won
    case FrameType::kCoordinator:
      return claims_ * cost_.coordinator;
    case FrameType::kCanvass:
      return asked_ + places_;
    // The second one when what stood against it is gone.
    case FrameType::kCanvassReply:
      return 2 * asked_ + places_;
    case FrameType::kGrant:
      return 2 * asked_;
    default:
      return std::nullopt;
  }
}

std::optional<std::string> ElectionBounds::broken_by(const MessageCounts& sent) const {
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    const auto most = messages(type);
    if (!most || sent[i] <= *most) continue;
    return std::to_string(sent[i]) + " " + name(type) + " where " + std::to_string(*most) +
           " are enough";
  }
  return std::nullopt;
}

}  // namespace bellwether::simulator
