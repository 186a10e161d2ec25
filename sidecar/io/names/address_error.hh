// An address or socket that cannot be listened on; the program ends with a code of its own then.
#pragma once

#include <system_error>

namespace bellwether {

// what() names the address.
class AddressError : public std::system_error {
 public:
  using std::system_error::system_error;
};

}  // namespace bellwether
