// Which system calls the process does without, and that the kernel refuses them from now on
// (seccomp).
//
// A list of what is refused, not of what is allowed: the C library, OpenSSL and the kernel learn
// new calls every year, and a sidecar that an update of its host ends has cost more than the list
// has gained.  Refused is what leads out of a process or deep into the kernel.
#pragma once

#include <cstdint>
#include <vector>

namespace bellwether::io {

// Fail with EPERM.  Apart from these, clone3 is not there (ENOSYS: the C library takes clone),
// clone makes no namespaces (EPERM), and sockets are of the families unix, IPv4, IPv6 and netlink
// (EAFNOSUPPORT).
std::vector<uint32_t> refused_system_calls();

// For all threads, for good.  A process without new privileges only.  False, and errno says why,
// when the kernel refuses it: ENOSYS where this processor has no list.
bool refuse_system_calls();

}  // namespace bellwether::io
