// Why the flag cannot be used, in words for the operator.
#pragma once

#include <stdexcept>
#include <string>

namespace bellwether {

class FlagError : public std::runtime_error {
 public:
  // what() is one line of all three: "/dev/shm/bellwether/orders: is a symbolic link; remove it".
  FlagError(const std::string& path, const std::string& flaw, const std::string& remedy)
      : std::runtime_error(path + ": " + flaw + "; " + remedy) {}
};

}  // namespace bellwether
