// A hash of names; where voters are does not matter.
#include "io/state/vote_tag.hh"

#include <algorithm>
#include <string>

#include "io/state/state_slots.hh"
#include "io/wire/checksum.hh"

namespace bellwether {

uint64_t vote_tag(const Config& config) {
  if (!config.voters.contains(config.node.name)) return kNoVoter;
  std::string text = config.node.name;
  for (const auto& [name, address] : config.voters) text += "\n" + name;
  return std::clamp(group_tag(text), kNoVoter + 1, kVotesForgotten - 1);
}

}  // namespace bellwether
