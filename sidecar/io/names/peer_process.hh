// The process at the other end of a unix socket, as the kernel noted it when it connected.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace bellwether::io {

struct PeerProcess {
  pid_t process = 0;
  uid_t user = 0;
  std::vector<gid_t> groups;  // its own first
};

// Nothing when the kernel does not say.  `fd` is a connected unix socket.
std::optional<PeerProcess> peer_process_of(int fd);

}  // namespace bellwether::io
