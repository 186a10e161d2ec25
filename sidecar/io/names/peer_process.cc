// SO_PEERCRED and SO_PEERGROUPS (unix(7)).
#include "io/names/peer_process.hh"

#include <sys/socket.h>

namespace bellwether::io {
namespace {

// More groups than that a process hardly has.
constexpr size_t kMaxGroups = 1024;

}  // namespace

std::optional<PeerProcess> peer_process_of(int fd) {
  struct ucred credentials {};
  socklen_t bytes = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) return std::nullopt;
  PeerProcess peer{
      .process = credentials.pid, .user = credentials.uid, .groups = {credentials.gid}};
  std::vector<gid_t> groups(kMaxGroups);
  bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) {
    groups.resize(bytes / sizeof(gid_t));
    peer.groups.insert(peer.groups.end(), groups.begin(), groups.end());
  }
  return peer;
}

}  // namespace bellwether::io
