// From the configuration to what the core is told.
#pragma once

#include <string>

#include "config/config.hh"
#include "core/options.hh"

namespace bellwether {

// `seed` and `epoch_seed` are for the caller to choose.
Options to_options(const Config& config);

// Which store, and which record in it; "": none.
std::string store_name(const Config& config);

// What a HELLO says of the voters, or of the store; 0: there is neither.
uint64_t guard_hash(const Config& config);

// A leader counts on this much of its lease only, so that clocks that run up to 11 % too fast or
// too slow do no harm; and no silence is tolerated for longer.
inline Duration longest_silence(Duration lease) { return lease / 5 * 4; }

}  // namespace bellwether
