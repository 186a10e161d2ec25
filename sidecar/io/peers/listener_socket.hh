// The socket that peers connect to.
#pragma once

#include <cstdint>
#include <functional>

#include "base/host_port.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io {

class ListenerSocket {
 public:
  using OnConnection = std::function<void(UvPtr<uv_tcp_t>)>;

  // Listens at `place`: a numeric address ("::" is every address, see listening.hh), or a name
  // that getaddrinfo(3) resolves now; port 0 is any free one.  Throws std::system_error whose text
  // names the place.  `on_connection` is called from the loop, for a few connections a turn at
  // most, so that what has arrived on one is read before many newer ones are there.
  ListenerSocket(Loop& loop, const HostPort& place, OnConnection on_connection);

  // Where it listens, as the kernel has it.
  SocketAddress address() const;
  uint16_t port() const { return address().port(); }

 private:
  void on_waiting();
  void accept_one();

  OnConnection on_connection_;
  int accepted_ = 0;  // since the last pause
  LoopTimer pause_;   // until the next turn of the loop
  UvPtr<uv_tcp_t> handle_;
};

}  // namespace bellwether::io
