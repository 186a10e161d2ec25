// The one way to listen over TCP: from a place to addresses, and from an address to a socket that
// is bound to it.
#pragma once

#include <string>
#include <vector>

#include "base/host_port.hh"
#include "io/loop/file_descriptor.hh"
#include "io/names/socket_address.hh"

namespace bellwether {

// What `place` stands for: a numeric address ("::" is every address of this host, 0.0.0.0 where the
// kernel has no IPv6), or all that getaddrinfo(3) finds for a name now, which blocks.  Throws
// AddressError.
std::vector<SocketAddress> listening_addresses(const HostPort& place);

// A socket that is bound there, and takes IPv4, too, where that is "::".  When it fails, no file,
// and errno.
FileDescriptor bind_to(const SocketAddress& address);

// Throws AddressError, which names the place; `error` is an errno.
[[noreturn]] void fail_to_listen(const HostPort& place, int error, const std::string& detail = "");

}  // namespace bellwether
