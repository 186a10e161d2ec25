// Why the flag cannot be used, in words for the operator.
#pragma once

#include <stdexcept>
#include <string>

namespace bellwether {

class FlagError : public std::runtime_error {
 public:
  // what() is one line of all three: "/dev/shm/bellwether/orders: is a symbolic link; remove it".
  // `may_pass`: it may be over at another start, though nobody has done anything about it.
  FlagError(const std::string& path, const std::string& flaw, const std::string& remedy,
            bool may_pass = false)
      : std::runtime_error(path + ": " + flaw + "; " + remedy), may_pass_(may_pass) {}

  bool may_pass() const { return may_pass_; }

 private:
  bool may_pass_;
};

}  // namespace bellwether
