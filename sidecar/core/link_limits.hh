// How long connections between peers may take for what they do: none is shorter than what the
// timers of the configuration allow a peer.  The transport goes by it, and the simulator, whose
// network behaves as the transport's does.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/options.hh"

namespace bellwether {

// The defaults are those of the default timers.
struct LinkLimits {
  // One try to connect; then there is another, with a fresh socket.  A lost SYN is sent again after
  // a second, a fresh socket's sooner.
  Duration connect = std::chrono::milliseconds(300);
  // A connection must have said HELLO by then.  Two whose HELLOs are less apart were dialled at the
  // same time, and one that has not lasted for so long has been of no use.
  Duration handshake = std::chrono::seconds(2);
  // Handshakes by TLS of whoever connects may keep this process busy for so long at once: less than
  // a heartbeat may be late.  The same whatever the timers are.
  Duration handshake_work = std::chrono::milliseconds(10);
  // What is under way for so long without an acknowledgement ends the connection
  // (TCP_USER_TIMEOUT).
  Duration unacknowledged = std::chrono::milliseconds(1500);
  // Links that end less apart than this have ended together.
  Duration moment = std::chrono::milliseconds(100);
  // What is said last has to leave, and to be acknowledged.
  Duration flush = std::chrono::milliseconds(500);
};

// A peer that may take `answer_timeout` for an ANSWER is so far away that a connection may take as
// long; and no silence ends a connection that is not suspicious either.
inline LinkLimits link_limits(const Options& options) {
  const LinkLimits least;
  const Duration connect = std::max(least.connect, options.answer_timeout);
  return {.connect = connect,
          .handshake = std::max(least.handshake, 2 * connect),
          .unacknowledged = std::max(least.unacknowledged, options.suspect_after_max),
          .moment = std::max(least.moment, options.heartbeat_interval),
          .flush = std::max(least.flush, connect)};
}

}  // namespace bellwether
