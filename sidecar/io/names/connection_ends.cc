// /proc and SO_NETNS_COOKIE.
#include "io/names/connection_ends.hh"

#include <bellwether/leader_flag.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "io/names/socket_address.hh"

// Linux 5.14; the C library's headers may be older.
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

namespace bellwether::io {
namespace {

std::string text_of(const std::optional<SocketAddress>& end) { return end ? end->text() : ""; }

uint64_t this_machine() {
  static const uint64_t kHash = [] {
    uint64_t hash = 0;
    return leader_flag_boot_id_hash(&hash) == 0 ? hash : 0;
  }();
  return kHash;
}

// An older kernel has no cookie, but a file for each namespace; a number of one is never taken for
// the other.
uint64_t network_of(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) == 0) return cookie;
  struct stat file {};
  if (::stat("/proc/self/ns/net", &file) != 0) return 0;
  constexpr uint64_t kFile = uint64_t{1} << 63;
  return kFile | (static_cast<uint64_t>(file.st_dev) << 32) | file.st_ino;
}

}  // namespace

ConnectionEnds ends_of(int fd) {
  return {.here = text_of(SocketAddress::local_of(fd)),
          .there = text_of(SocketAddress::remote_of(fd)),
          .machine = this_machine(),
          .network = network_of(fd)};
}

bool is_same_pair(const ConnectionEnds& ours, const ConnectionEnds& theirs) {
  return !ours.here.empty() && !ours.there.empty() && ours.here == theirs.there &&
         ours.there == theirs.here;
}

bool is_same_network(const ConnectionEnds& ours, const ConnectionEnds& theirs) {
  return ours.machine != 0 && ours.machine == theirs.machine && ours.network != 0 &&
         ours.network == theirs.network;
}

bool is_indirect(const ConnectionEnds& ours, const ConnectionEnds& theirs) {
  return !ours.here.empty() && !theirs.here.empty() && !is_same_pair(ours, theirs);
}

}  // namespace bellwether::io
