// What a node must find again after a restart.
#pragma once

#include <cstdint>

#include "base/clock.hh"
#include "core/identity.hh"

namespace bellwether {

struct Record {
  // Guard "none": the highest epoch seen.  Guard "majority": the highest one that this voter has
  // granted, or that another member has followed.  Never falls.
  uint64_t max_epoch = 0;
  Uuid granted_to{};  // who has this process's vote in max_epoch; nil: nobody
  // The longest lease of a promise that may still run: of this life, and of earlier ones until
  // their promises are over.
  Duration lease_seen{};

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace bellwether
