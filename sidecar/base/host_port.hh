// Where something listens: a host, as an address or by name, and a port.  Nothing is looked up.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace bellwether {

struct HostPort {
  std::string host;  // IPv4, IPv6 without brackets, or a name; empty: none
  uint16_t port = 0;

  bool is_none() const { return host.empty(); }
  // "every address of this host": good to listen on, useless to connect to.
  bool is_wildcard() const;
  // Certainly reachable from this host alone.
  bool is_loopback() const;
  // host:port, an IPv6 address in brackets; "" when there is none.
  std::string text() const;

  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// Whether a host is an IP address, as numbers, and not a name.
bool is_ip_address(std::string_view host);

// Fills `result` from host:port and returns ""; or returns what is wrong with the text, as a phrase
// that follows it ("lacks a port").
std::string parse_host_port(std::string_view text, HostPort& result);

}  // namespace bellwether
