// SO_PEERCRED and SO_PEERGROUPS (unix(7)).
#include "io/names/peer_process.hh"

#include <sys/socket.h>

#include <fstream>
#include <limits>
#include <sstream>

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

bool maps_everybody(const std::string& map) {
  constexpr uint32_t kAll = std::numeric_limits<uint32_t>::max();
  uint32_t first = 0, outside = 0, count = 0;
  std::istringstream fields(map);
  return fields >> first >> outside >> count && first == 0 && count == kAll;
}

std::optional<uint32_t> overflow_id(const std::string& kind) {
  std::string map;
  std::getline(std::ifstream("/proc/self/" + kind + "_map"), map);
  if (maps_everybody(map)) return std::nullopt;
  constexpr uint32_t kUsual = 65534;
  uint32_t id = kUsual;
  std::ifstream("/proc/sys/kernel/overflow" + kind) >> id;
  return id;
}

}  // namespace bellwether::io
