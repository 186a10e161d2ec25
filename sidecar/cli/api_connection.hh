// One connection to the sidecar that never waits longer than it is told.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cli/api_client.hh"
#include "io/loop/file_descriptor.hh"

namespace bellwether::cli {

using Deadline = std::chrono::steady_clock::time_point;

// Whether there is something to read from (or room to write to) `fd` before the deadline; -1 waits
// for the deadline alone.  Throws Interrupted.
bool wait_for(int fd, short poll_events, Deadline deadline, int interrupt_fd);

class ApiConnection {
 public:
  // All throw ApiError, and Interrupted.
  ApiConnection(const ApiAddress& address, int interrupt_fd, Deadline deadline);
  void send(std::string_view text, Deadline deadline);
  // "" when the sidecar has closed the connection; nothing when nothing has come.
  std::optional<std::string> receive(Deadline deadline);

  [[noreturn]] void fail(const std::string& why) const;

 private:
  ApiAddress address_;
  int interrupt_fd_;
  FileDescriptor fd_;
};

}  // namespace bellwether::cli
