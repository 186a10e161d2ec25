// What a node must find again after a restart.
#pragma once

#include <cstdint>

namespace bellwether {

struct Record {
  uint64_t max_epoch = 0;  // the highest epoch seen; never falls

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace bellwether
