// An IP address with a port, as numbers: what can be dialled without asking anybody.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/host_port.hh"

namespace bellwether::io {

class SocketAddress {
 public:
  // nullopt when the host is a name, or none.
  static std::optional<SocketAddress> from_numeric(const HostPort& place);

  // `address` is of IPv4 or IPv6; nullopt otherwise.  IPv4 that comes wrapped in IPv6, as it does
  // from a socket that listens for both, is unwrapped, so that one address has one form.
  static std::optional<SocketAddress> from(const sockaddr& address);

  // The near and the far end of a socket; nullopt where there is none.
  static std::optional<SocketAddress> local_of(int fd);
  static std::optional<SocketAddress> remote_of(int fd);

  // Whose it is, as far as a stranger cannot choose it: without the port, and of IPv6 the network
  // of 64 bits.
  SocketAddress neighbourhood() const;
  // The same host, another port.
  SocketAddress with_port(uint16_t port) const;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(bytes_.data()); }
  uint16_t port() const;
  int family() const { return get()->sa_family; }
  // Both ends are on this host.
  bool is_loopback() const;
  // host:port; IPv6 in brackets.
  std::string text() const;

  friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;

 private:
  SocketAddress() = default;
  void set_ipv4(const in_addr& host, in_port_t port);
  void set_ipv6(const in6_addr& host, in_port_t port, uint32_t scope);

  // A sockaddr_in6 or a sockaddr_in, the rest zero; compared byte by byte.
  alignas(sockaddr_in6) std::array<uint8_t, sizeof(sockaddr_in6)> bytes_{};
};

}  // namespace bellwether::io
