// The writing half of the flag's line; the reading half, and the layout, are in leader_flag.h.
// There is one writer at a time; readers may look at any moment.
#pragma once

#include <bellwether/leader_flag.h>

#include <cstdint>

#include "core/identity.hh"

namespace bellwether {

// What the flag says, its validity aside.
struct FlagWord {
  uint8_t role = LEADER_FLAG_UNKNOWN;
  uint8_t guard = LEADER_FLAG_GUARD_NONE;
  uint64_t epoch = 0;
  Uuid leader{};  // zeros: none is known

  friend bool operator==(const FlagWord&, const FlagWord&) = default;
};

// Replaces all that the line says.  What a writer that died in the middle has left is no hindrance.
void write_flag_line(leader_flag_line& line, const FlagWord& word, uint64_t valid_until_ns,
                     uint64_t boot_id_hash);

// Moves the validity on; readers and waiters are not disturbed.
void renew_flag_line(leader_flag_line& line, uint64_t valid_until_ns);

}  // namespace bellwether
