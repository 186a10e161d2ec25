// What the kernel says of this process: the numbers of Prometheus' process_* metrics.
#pragma once

#include <cstdint>

namespace bellwether::metrics {

struct ProcessReadings {
  double cpu_seconds = 0;
  uint64_t resident_memory_bytes = 0;
  uint64_t open_fds = 0;
  double start_time_seconds = 0;  // since 1970; fixed once it was read
};

// Reads /proc, some tens of microseconds.  What cannot be read keeps its value.
void update(ProcessReadings& readings);

}  // namespace bellwether::metrics
