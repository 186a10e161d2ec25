// Where to listen for "every address of this host".
#pragma once

#include "base/host_port.hh"

namespace bellwether {

// [::] becomes 0.0.0.0 where the kernel has no IPv6; any other place stays as it is.  A socket that
// is bound to [::] must be told to take IPv4, too (IPV6_V6ONLY).
HostPort listening_place(const HostPort& place);

}  // namespace bellwether
