// What a plugin says of itself beside elections: its variants, and what an election costs by each
// (the extension ELECTION_COST_EXTENSION).
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bellwether {

inline std::vector<std::string> variants_of(const election_plugin& plugin) {
  std::vector<std::string> variants;
  for (const char* const* name = plugin.variants; *name != nullptr; ++name) {
    variants.emplace_back(*name);
  }
  return variants;
}

// The variant that is meant by `wanted`; empty: the plugin's own choice.
inline std::string chosen_variant(const election_plugin& plugin, const std::string& wanted) {
  return wanted.empty() ? variants_of(plugin).back() : wanted;
}

// An election whose cost is asked for; as election_case of the ABI.
struct ElectionCase {
  std::vector<election_member> members;  // in ascending rank; ELECTION_MEMBER_SUSPECT: is gone
  uint32_t initiator = 0;
  uint32_t lost = ELECTION_NOBODY;  // its end only the initiator has noticed
  bool asks_suspected = false;      // profile "textbook"
};

// Whether the plugin has the extension.
inline bool has_prices(const election_plugin& plugin) {
  return plugin.extension(ELECTION_COST_EXTENSION) != nullptr;
}

// By `variant`, one of the plugin's; nullopt: it cannot tell.
inline std::optional<election_cost> price_of(const election_plugin& plugin,
                                             const std::string& variant,
                                             const ElectionCase& election) {
  const auto* extension =
      static_cast<const election_cost_extension*>(plugin.extension(ELECTION_COST_EXTENSION));
  if (extension == nullptr || extension->size < sizeof *extension) return std::nullopt;
  const election_case which{
      .members = election.members.data(),
      .member_count = static_cast<uint32_t>(election.members.size()),
      .initiator = election.initiator,
      .lost = election.lost,
      .flags = election.asks_suspected ? uint32_t{ELECTION_CASE_ASK_SUSPECTED} : 0u,
      .reserved = {}};
  election_cost cost{};
  if (extension->messages(variant.c_str(), &which, &cost) != 0) return std::nullopt;
  return cost;
}

}  // namespace bellwether
