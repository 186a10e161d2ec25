// Where the client gets addresses of names from, without waiting for them.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <string>
#include <vector>

namespace bellwether {

class AddressLookup {
 public:
  // Addresses in the order in which they shall be tried, their ports not set; or none, and why, as
  // a phrase.
  using Done = std::function<void(std::vector<sockaddr_storage> addresses, std::string error)>;

  virtual ~AddressLookup() = default;
  // Calls `done` once, from within the loop or at once; it may still be called when nobody wants to
  // know any more.
  virtual void look_up(const std::string& host, Done done) = 0;
};

}  // namespace bellwether
