// How the connections between members are secured.
#pragma once

#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/counted.hh"
#include "base/host_port.hh"
#include "io/tls/tls_context.hh"

namespace bellwether::io {

struct LinkSecurity {
  TlsContextPtr tls;        // shared with all connections made by it; nullptr: plain TCP
  bool takes_plain = true;  // beside TLS, in both directions
  // Where each voter is (guard "majority"): its certificate has to be for that host, and nobody
  // else is taken to be there.
  std::map<std::string, HostPort> voters{};
};

// What is known of a link, apart from what its peer has said.
struct LinkFacts {
  std::string remote;  // host:port in numbers
  Security security = Security::kPlain;
  std::string certificate{};            // its names; empty: none was shown
  std::optional<std::time_t> expiry{};  // of the certificates of both sides, in seconds since 1970
  uint64_t told = 0;                    // the revision (MemberEntry) in this node's own HELLO
};

}  // namespace bellwether::io
