// What may end a dead leader's promises before they run out (guard "majority"): the key
// election.death_proof, which the transport goes by (io/peers/death_proof.hh).
#pragma once

#include <cstdint>

namespace bellwether {

enum class DeathProof : uint8_t {
  kAuto,     // the word of the kernel on peers in this network namespace
  kNone,     // nothing but time
  kRefused,  // refused connections of any peer
};

}  // namespace bellwether
