// From text and from the kernel's structures to one form, and back.
#include "io/names/socket_address.hh"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace bellwether::io {
namespace {

template <typename Call>
std::optional<SocketAddress> end_of(int fd, Call call) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (call(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return SocketAddress::from(reinterpret_cast<const sockaddr&>(address));
}

}  // namespace

std::optional<SocketAddress> SocketAddress::from_numeric(const HostPort& place) {
  SocketAddress result;
  in_addr ipv4{};
  in6_addr ipv6{};
  if (::inet_pton(AF_INET, place.host.c_str(), &ipv4) == 1) {
    result.set_ipv4(ipv4, htons(place.port));
  } else if (::inet_pton(AF_INET6, place.host.c_str(), &ipv6) == 1) {
    result.set_ipv6(ipv6, htons(place.port), 0);
  } else {
    return std::nullopt;
  }
  return result;
}

std::optional<SocketAddress> SocketAddress::from(const sockaddr& address) {
  SocketAddress result;
  if (address.sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address, sizeof ipv4);
    result.set_ipv4(ipv4.sin_addr, ipv4.sin_port);
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address, sizeof ipv6);
    result.set_ipv6(ipv6.sin6_addr, ipv6.sin6_port, ipv6.sin6_scope_id);
  } else {
    return std::nullopt;
  }
  return result;
}

std::optional<SocketAddress> SocketAddress::local_of(int fd) { return end_of(fd, ::getsockname); }

std::optional<SocketAddress> SocketAddress::remote_of(int fd) { return end_of(fd, ::getpeername); }

SocketAddress SocketAddress::neighbourhood() const {
  SocketAddress result = with_port(0);
  if (family() != AF_INET6) return result;
  constexpr size_t kNetworkBytes = 8;
  const auto host = result.bytes_.begin() + offsetof(sockaddr_in6, sin6_addr) + kNetworkBytes;
  std::fill_n(host, sizeof(in6_addr) - kNetworkBytes, uint8_t{0});
  return result;
}

SocketAddress SocketAddress::with_port(uint16_t port) const {
  // Both families have it at the same place.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  SocketAddress result = *this;
  const in_port_t bytes = htons(port);
  std::memcpy(result.bytes_.data() + offsetof(sockaddr_in, sin_port), &bytes, sizeof bytes);
  return result;
}

uint16_t SocketAddress::port() const {
  in_port_t bytes = 0;
  std::memcpy(&bytes, bytes_.data() + offsetof(sockaddr_in, sin_port), sizeof bytes);
  return ntohs(bytes);
}

bool SocketAddress::is_loopback() const {
  HostPort place;
  return parse_host_port(text(), place).empty() && place.is_loopback();
}

std::string SocketAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, bytes_.data(), sizeof ipv6);
  const void* address = &ipv6.sin6_addr;
  if (family() == AF_INET) address = bytes_.data() + offsetof(sockaddr_in, sin_addr);
  ::inet_ntop(family(), address, host.data(), host.size());
  return HostPort{host.data(), ntohs(ipv6.sin6_port)}.text();
}

void SocketAddress::set_ipv4(const in_addr& host, in_port_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = host;
  address.sin_port = port;
  std::memcpy(bytes_.data(), &address, sizeof address);
}

void SocketAddress::set_ipv6(const in6_addr& host, in_port_t port, uint32_t scope) {
  if (IN6_IS_ADDR_V4MAPPED(&host)) {
    in_addr ipv4{};
    std::memcpy(&ipv4, host.s6_addr + sizeof host.s6_addr - sizeof ipv4, sizeof ipv4);
    return set_ipv4(ipv4, port);
  }
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = host;
  address.sin6_port = port;
  address.sin6_scope_id = scope;
  std::memcpy(bytes_.data(), &address, sizeof address);
}

}  // namespace bellwether::io
