// [I11] of the table "Invariants" in ARCHITECTURE.md.
#include "simulator/election_cost.hh"

namespace bellwether::simulator {

// Classic: a highest one that has nobody to wait for announces itself to each that asks it; only
// where a higher one is dead and awaited, as in the papers, is it once.
uint64_t most_claims(const ElectionSize& size) { return size.is_classic ? size.members - 1 : 1; }

std::optional<uint64_t> most_messages(const ElectionSize& size, FrameType type) {
  // Classic: everybody asks everybody above, once.  Modified: the one that begins does.
  const uint64_t others = size.members - 1;
  const uint64_t questions = size.is_classic ? size.members * others / 2 : others;
  const uint64_t other_voters = size.voters == 0 ? 0 : size.voters - 1;
  switch (type) {
    case FrameType::kElection:
    case FrameType::kAnswer:
      return questions;
    case FrameType::kHandover:
      return size.is_classic ? 0 : 1;
    case FrameType::kCoordinator:
      return most_claims(size) * others;
    case FrameType::kCanvass:
      return other_voters;
    case FrameType::kCanvassReply:
    case FrameType::kGrant:
      return 2 * other_voters;  // the second one when what stood against it is gone
    default:
      return std::nullopt;
  }
}

std::optional<std::string> broken_by_cost(const ElectionSize& size, const MessageCounts& sent) {
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    const auto most = most_messages(size, type);
    if (!most || sent[i] <= *most) continue;
    return std::to_string(sent[i]) + " " + name(type) + " where " + std::to_string(*most) +
           " are enough";
  }
  return std::nullopt;
}

}  // namespace bellwether::simulator
