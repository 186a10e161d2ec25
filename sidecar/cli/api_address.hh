// Where the sidecar's API is.
#pragma once

#include <string>

#include "config/config.hh"

namespace bellwether::cli {

// A unix socket when `socket` is not empty, otherwise a host and a port.
struct ApiAddress {
  HostPort host;
  std::string socket;

  // For people, and for the Host header.
  std::string text() const { return socket.empty() ? host.text() : socket; }
};

// Where to connect to somebody on this host who listens there.
HostPort to_connect_to(const HostPort& listen);

// Where a sidecar with this configuration answers; its text() is "" when it does nowhere.
ApiAddress address_of(const ApiSettings& api);

struct ApiOptions {
  std::string api;     // what the user says; empty: what the configuration says
  std::string config;  // empty: the usual file, if there is one
};

// Throws UsageError when --api is no address, ConfigErrors when the configuration is wrong, and
// std::system_error when it cannot be read.
ApiAddress find_api(const ApiOptions& options);

}  // namespace bellwether::cli
