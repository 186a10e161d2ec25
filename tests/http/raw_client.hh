// A client that sends bytes as they are given and shows those that come, without waiting for
// either.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/loop/files.hh"

namespace bellwether::io::test {

// How often `part` is in `text`.
size_t count(std::string_view text, std::string_view part);

class RawClient {
 public:
  // Connected to 127.0.0.1; fails the test when that is refused.  `receive_bytes` of the kernel's
  // buffer, 0: as usual.
  explicit RawClient(uint16_t port, int receive_bytes = 0);
  explicit RawClient(const std::string& socket_path);
  // From another address of loopback.
  RawClient(uint16_t port, const char* from);

  // Fails the test when the kernel does not take all of it.
  void send(std::string_view bytes) const;
  // How much of it the kernel takes now; 0 also when the connection is broken.
  size_t send_some(std::string_view bytes) const;

  // All that came so far.
  const std::string& received();
  // The server has closed its direction or everything.
  bool has_ended();
  // By a reset.
  bool is_reset() const { return is_reset_; }

  void end_sending() const;
  void close();
  void reset();

 private:
  void receive();

  FileDescriptor socket_;
  std::string received_;
  bool has_ended_ = false;
  bool is_reset_ = false;
};

}  // namespace bellwether::io::test
