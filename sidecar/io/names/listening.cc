// getaddrinfo(3) and bind(2).  Whether there is IPv6 the kernel is asked by making a socket; that
// it is there but switched off makes no difference to [::], which then hears IPv4 alone.
#include "io/names/listening.hh"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "io/names/address_error.hh"

namespace bellwether {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};

FileDescriptor make_tcp_socket(int family) {
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool has_ipv6() { return make_tcp_socket(AF_INET6).is_open() || errno != EAFNOSUPPORT; }

}  // namespace

std::vector<SocketAddress> listening_addresses(const HostPort& place) {
  const bool is_of_ipv6 = place.host.find(':') != std::string::npos;
  const bool is_replaced = place.is_wildcard() && is_of_ipv6 && !has_ipv6();
  const std::string host = is_replaced ? "0.0.0.0" : place.host;
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status =
      ::getaddrinfo(host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (status != 0) {
    fail_to_listen(place, status == EAI_SYSTEM ? errno : EADDRNOTAVAIL, ::gai_strerror(status));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> all(found);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (const auto address = SocketAddress::from(*each->ai_addr)) addresses.push_back(*address);
  }
  return addresses;
}

FileDescriptor bind_to(const SocketAddress& address) {
  FileDescriptor socket = make_tcp_socket(address.family());
  if (!socket.is_open()) return socket;
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.get(), level, option, &value, sizeof value);
  };
  // Connections of an earlier life may still be in TIME_WAIT.
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set(IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket.get(), address.get(), sizeof(sockaddr_in6)) == 0) return socket;
  const int error = errno;
  socket = FileDescriptor();
  errno = error;
  return socket;
}

void fail_to_listen(const HostPort& place, int error, const std::string& detail) {
  const std::string what = "cannot listen on " + place.text();
  throw AddressError(error, std::generic_category(), detail.empty() ? what : what + ": " + detail);
}

}  // namespace bellwether
