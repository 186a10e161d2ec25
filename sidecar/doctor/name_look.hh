// Looks names up, all at once, as the sidecar does: with its resolver.
#pragma once

#include <vector>

#include "doctor/facts.hh"

namespace bellwether::doctor {

// Fills in addresses, or errors; waits for `limit` at most.  Throws as Resolver does.
void look_up(std::vector<NameFacts>& names, Duration limit);

}  // namespace bellwether::doctor
