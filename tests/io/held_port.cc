// Bound and no more; held_port.hh says what that is good for.
#include "held_port.hh"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io::test {

HeldPort::HeldPort(HostPort place) : place_(std::move(place)) {
  const auto wanted = SocketAddress::from_numeric(place_);
  check(wanted.has_value(), "a port is held at an address");
  fd_ = FileDescriptor(::socket(wanted->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd_.get(), wanted->get(), sizeof(sockaddr_in6)) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot hold " + place_.text());
  }
  sockaddr_in6 bound{};
  socklen_t size = sizeof bound;
  check(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0, "has a port");
  place_.port = ntohs(bound.sin6_port);  // both families have it at the same place
}

}  // namespace bellwether::io::test
