// A server that says what a test wants, be it HTTP or not.
#pragma once

#include <cstdint>
#include <string>

#include "io/loop/files.hh"
#include "io/loop/loop.hh"

namespace bellwether::io::test {

class ListeningSocket {
 public:
  // On 127.0.0.1, any free port.
  ListeningSocket();

  uint16_t port() const { return port_; }
  // Turns the loop until a client has connected and has sent a whole head; then sends `answer` and
  // closes.
  void answer_once(Loop& loop, const std::string& answer) const { answer_and_keep(loop, answer); }
  // The same, and the connection is the caller's.
  FileDescriptor answer_and_keep(Loop& loop, const std::string& answer) const;

  // Reads what a client sends first, and closes.
  void hang_up_once(Loop& loop) const;

 private:
  FileDescriptor accepted(Loop& loop) const;

  FileDescriptor socket_;
  uint16_t port_ = 0;
};

}  // namespace bellwether::io::test
