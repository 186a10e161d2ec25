// What the kernel knows of the sockets of this network namespace, whoever has them: whether anybody
// listens at an address.  No rule of a firewall, and no queue that is full, changes the answer, as
// they change what becomes of a try to connect.
//
// NETLINK_SOCK_DIAG: no privilege is needed, the kernel answers within the call that asks, in
// microseconds.  Of one thread.
#pragma once

#include <cstdint>

#include "io/loop/files.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io {

class KernelSockets {
 public:
  enum class Answer : uint8_t {
    kListens,  // somebody does, there or at every address
    kNobody,   // nobody does
    kSilent,   // it is not known
  };

  // `own`: where this process listens, now and as long as it asks.  A kernel that cannot tell
  // answers like one that finds nobody, so this, whose answer is known, is asked before anything
  // else.  A kernel that does not pass is not asked again: each time it might look for a module.
  explicit KernelSockets(const SocketAddress& own);

  // Whether it can be asked at all.
  bool can_tell() const { return socket_.is_open(); }
  // Who listens at `place`: where it is asked for is found also who listens at every address.
  Answer who_listens(const SocketAddress& place);

 private:
  Answer ask(const SocketAddress& place);

  SocketAddress own_;
  FileDescriptor socket_;  // of netlink
  uint32_t asked_ = 0;     // the number of the last question
};

}  // namespace bellwether::io
