// The one way to connect to a peer or a server: a socket that libuv has, TCP or unix, to an
// address; nothing waits.  The kernel's own connect() is called only where no stream comes of it:
// to see whether anybody listens at a unix socket (listening.cc), to ask the kernel
// (kernel_sockets.cc), and to tell the service manager (daemon/systemd.cc).
#pragma once

#include <uv.h>

#include <functional>
#include <string>

#include "io/names/socket_address.hh"

namespace bellwether::io {

// Told 0 when the socket is connected, or an error of libuv.
using OnConnected = std::function<void(int status)>;

// Begins to connect `socket`, whose `data` is set, and calls `on_connected` once, from the loop;
// never when the socket is let go of before.  An error that shows at once is returned instead.
int connect(uv_tcp_t& socket, const SocketAddress& address, OnConnected on_connected);
int connect(uv_pipe_t& socket, const std::string& path, OnConnected on_connected);

}  // namespace bellwether::io
