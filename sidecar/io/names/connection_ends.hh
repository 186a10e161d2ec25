// What one end of a connection knows of it.  Each side tells the other in its HELLO, and compares:
// where nobody stands between the two, both name the same pair of sockets.  A proxy, a tunnel or an
// address translation has a socket, or an address, of its own in between, and what it refuses or
// ends is its own doing.
#pragma once

#include <cstdint>
#include <string>

namespace bellwether::io {

struct ConnectionEnds {
  std::string here;      // the sender's own socket, host:port in numbers; empty: unknown
  std::string there;     // the socket at the other end
  uint64_t machine = 0;  // hash of the boot id of the sender's kernel; 0: unknown
  uint64_t network = 0;  // the network namespace of its socket, on that machine; 0: unknown

  friend bool operator==(const ConnectionEnds&, const ConnectionEnds&) = default;
};

// As this process's kernel has them.  `fd` is a connected socket.
ConnectionEnds ends_of(int fd);

// Whether both sides name the same two sockets.
bool is_same_pair(const ConnectionEnds& ours, const ConnectionEnds& theirs);
// And both are in one network namespace of one machine: one kernel speaks for both ends.
bool is_same_network(const ConnectionEnds& ours, const ConnectionEnds& theirs);
// Whether somebody stands between for sure: both sides know their sockets, and they differ.
bool is_indirect(const ConnectionEnds& ours, const ConnectionEnds& theirs);

}  // namespace bellwether::io
