// What the kernel is asked for on the sockets between peers, and why.
#pragma once

#include "base/clock.hh"
#include "io/loop/files.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io {

// For a connection to a peer: frames leave at once, silence is probed, and what cannot be sent
// waits in this process, where it is counted.  A kernel that refuses one of the options is
// tolerated.
void prepare_peer_socket(int fd);
// The kernel asks each second whether a peer that says nothing is there.
void probe_silence(int fd);
// It ends when nothing has come back for so long (LinkLimits).
void set_user_timeout(int fd, Duration unacknowledged);

// Whether the network's words about the peer (ICMP) are kept for the socket `fd`.  For one that
// connects: on one that is connected each of them would be its end.
void keep_network_errors(int fd, bool are_kept);

// Whether the try to connect `fd`, for which they were kept, has failed by the network's word.  A
// firewall that rejects, as most do, is otherwise taken for the host on which nobody listens.
bool was_refused_by_network(int fd);

// Whether a connection's two ends are one and the same socket.  That happens to who dials a port of
// its own host out of the range that the kernel takes source ports from, while nobody listens
// there: sooner or later the kernel picks the very port that is dialled.
bool is_connected_to_itself(int fd);

// Whether this host has that address now: what it sends there comes from there.
bool is_of_this_host(const SocketAddress& address);

// Makes closing `fd` abort the connection, so that its port is free again at once.
void abort_on_close(int fd);

// Moves a listening socket to a high descriptor.
//
// When a process dies the kernel closes its files, highest descriptor first, and peers see FIN on
// their connections.  Their next question is whether the port still accepts, and it must not: a try
// that is accepted by the dying process costs a take-over a millisecond.  So the listening socket
// has to be closed before the connections, and stands above all of them.  Where the limit of open
// files is low, it is as high as that lets it be.
FileDescriptor move_to_high_descriptor(FileDescriptor fd);

}  // namespace bellwether::io
