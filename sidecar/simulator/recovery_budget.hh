// How long a group may take to agree on a leader when all faults have ended: what `bellwether
// check` prints as the worst case (config/failover.cc), for the settings of a virtual cluster, and
// the limit of `expect agreement within budget`.
#pragma once

#include "base/clock.hh"
#include "simulator/cluster.hh"

namespace bellwether::simulator {

// From the moment at which everything works again and everybody is started.  Where settings differ,
// those of the slowest count.
Duration recovery_budget(const Cluster& cluster);

}  // namespace bellwether::simulator
