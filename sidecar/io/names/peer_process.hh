// The process at the other end of a unix socket, as the kernel noted it when it connected.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bellwether::io {

struct PeerProcess {
  pid_t process = 0;
  uid_t user = 0;
  std::vector<gid_t> groups;  // its own first
};

// Nothing when the kernel does not say.  `fd` is a connected unix socket.
std::optional<PeerProcess> peer_process_of(int fd);

// The number by which the kernel shows users ("uid") or groups ("gid") that have none in this
// process's user namespace: any of them.  Nothing where all have one.
std::optional<uint32_t> overflow_id(const std::string& kind);

// `map` is what /proc/self/uid_map says.
bool maps_everybody(const std::string& map);

}  // namespace bellwether::io
