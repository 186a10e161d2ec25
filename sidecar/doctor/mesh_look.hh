// Looks at the sockets of this network namespace, which in a pod are those of all its containers:
// who is connected to the sidecar, and whether the proxy of a service mesh listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_port.hh"
#include "config/environment.hh"

namespace bellwether::doctor {

struct SocketEntry {
  HostPort local;
  HostPort remote;
  bool is_listening = false;
  bool is_connected = false;
};

// From the text of /proc/net/tcp or /proc/net/tcp6; what is no entry is skipped.
std::vector<SocketEntry> parse_socket_table(std::string_view text);

// That of this network namespace.
std::vector<SocketEntry> socket_table();

// The hosts that hold a connection to `port` here, each once.
std::vector<std::string> hosts_connected_to(uint16_t port, const std::vector<SocketEntry>& sockets);

// A phrase for each sign of a service mesh.
std::vector<std::string> signs_of_mesh(const Environment& environment,
                                       const std::vector<SocketEntry>& sockets);

}  // namespace bellwether::doctor
