// Tells systemd, where it has started this process, how it is doing: sd_notify(3)'s protocol, one
// datagram a message.  Elsewhere nothing happens.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/clock.hh"
#include "io/loop/files.hh"

namespace bellwether::daemon {

class Systemd {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; a socket that cannot be used counts as
  // none.
  Systemd();

  // Whether it makes this folder before each start (StateDirectory=), or one above it, in which the
  // start itself can make it.
  static bool makes(const std::filesystem::path& folder);

  // How often it expects to be told; nothing: it does not.
  std::optional<Duration> watchdog_interval() const;

  // Asks it not to end this process because nothing is heard of it: neither its start, for so long
  // from now on, nor the watchdog, which a unit's READY may not even have begun.
  void ask_for(Duration patience) const;
  // The watchdog expects this process to be alive from now on, as the unit has it.
  void tell_alive() const;

  // "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=…", lines of one message.  Never blocks; what
  // cannot be sent is lost.
  void tell(std::string_view message) const;

 private:
  io::FileDescriptor socket_;
  std::optional<std::chrono::microseconds> watchdog_;  // as long as it waits
};

}  // namespace bellwether::daemon
