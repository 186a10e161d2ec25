// An election that was held in earnest, held again in the virtual cluster: by the same members,
// with the same ones gone and the same one to begin, but by whichever variant is asked about.  So
// its messages can be compared with those of the variant in force before anybody switches.
//
// As in the papers, nobody has a leader and one process begins.  All members live in one thread and
// in virtual time, and hear only each other; the caller may be in any thread.
#pragma once

#include <bellwether/election_plugin.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/frames.hh"

namespace bellwether::simulator {

// What the winner of an election knows of it.
struct ElectionFacts {
  struct Member {
    bool is_gone = false;
    bool may_lead = true;
  };
  std::vector<Member> members;  // in ascending rank
  uint32_t initiator = 0;       // index of who began; it is not gone
  // Index of the one that led before, if it is gone: its end is news, which the initiator alone
  // has.  Everybody knows of the others that are gone.
  std::optional<uint32_t> lost_leader;
  bool asks_suspected = false;  // profile "textbook": the dead are asked, too
};

// More take a virtual cluster too long: its cost grows with the square of the members.
inline constexpr size_t kMaxShadowMembers = 128;

// What the virtual cluster cannot show.
enum class ShadowFlaw : uint8_t {
  kTooLarge,  // it has more than kMaxShadowMembers
  kHeld,      // the initiator, or a living member above it, may not lead for a while
};
std::optional<ShadowFlaw> shadow_flaw_of(const ElectionFacts& facts);

// Attempts to send since the election began, by type.
using ShadowCounts = std::array<uint64_t, kFrameTypes>;

// Holds it by `variant`, one of the plugin's.  nullopt: it came to no end, or to no leader. `facts`
// have no flaw.  Takes a third of a second for the largest group, milliseconds for a usual one.
std::optional<ShadowCounts> hold_shadow_election(const election_plugin& plugin,
                                                 const std::string& variant,
                                                 const ElectionFacts& facts);

}  // namespace bellwether::simulator
