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
  Uuid granted_to{};      // who has this process's vote in max_epoch; nil: nobody
  Duration lease_seen{};  // the longest lease that may have been promised

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace bellwether
