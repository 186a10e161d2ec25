// Connects to addresses and says HELLO as one who only asks: who listens answers and forgets it, so
// nobody's election notices.  Also knocks where nobody can listen, to see whether something answers
// for everybody.
#pragma once

#include <vector>

#include "config/config.hh"
#include "doctor/facts.hh"
#include "io/names/socket_address.hh"

namespace bellwether::doctor {

struct ProbeOrder {
  std::vector<SocketAddress> addresses;
  std::vector<SocketAddress> decoy_hosts;  // their ports mean nothing
  Duration limit{};                        // for everything
};

struct ProbeReport {
  std::vector<ProbeFacts> probes;  // as order.addresses
  std::vector<DecoyFacts> decoys;  // as order.decoy_hosts
};

// All at the same time; as many descriptors as addresses and hosts.
ProbeReport probe_peers(const ProbeOrder& order, const Config& config);

}  // namespace bellwether::doctor
