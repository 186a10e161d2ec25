// Marks what a voter keeps with whose vote it is.
#pragma once

#include <cstdint>

#include "config/config.hh"

namespace bellwether {

// As which voter and among whom this process votes (Slot::voters): one with another name, or among
// others, has not granted what this one has.  kNoVoter where it is not a voter.
uint64_t vote_tag(const Config& config);

}  // namespace bellwether
