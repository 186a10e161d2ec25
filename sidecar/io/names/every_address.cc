// Asks the kernel by making a socket; that IPv6 is there but switched off makes no difference to
// [::], which then hears IPv4 alone.
#include "io/names/every_address.hh"

#include <sys/socket.h>

#include <cerrno>

#include "io/loop/file_descriptor.hh"

namespace bellwether {
namespace {

bool has_ipv6() {
  const FileDescriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.is_open() || errno != EAFNOSUPPORT;
}

}  // namespace

HostPort listening_place(const HostPort& place) {
  const bool is_of_ipv6 = place.host.find(':') != std::string::npos;
  if (!place.is_wildcard() || !is_of_ipv6 || has_ipv6()) return place;
  return {"0.0.0.0", place.port};
}

}  // namespace bellwether
