// A port at which nobody listens, and that nobody else is given.
//
// A port that is merely free may be another test's a moment later.  This one is bound, without
// listening: the kernel refuses who connects, and gives it neither to who binds port 0 nor to an
// outgoing connection.  Who asks for this very port with SO_REUSEADDR, as all servers here do, can
// still bind it and listen.
#pragma once

#include <cstdint>

#include "base/host_port.hh"
#include "io/loop/files.hh"

namespace bellwether::io::test {

class HeldPort {
 public:
  // The host is an address; port 0: any free one.  A port that was listened at can be held as soon
  // as nobody does any more; its connections may still be there.
  explicit HeldPort(HostPort place = {"127.0.0.1", 0});

  uint16_t port() const { return place_.port; }
  const HostPort& place() const { return place_; }

 private:
  FileDescriptor fd_;
  HostPort place_;
};

}  // namespace bellwether::io::test
