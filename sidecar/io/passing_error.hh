// Which failures of system calls on files are over at another try, perhaps, though nobody has done
// anything about them.
#pragma once

#include <cerrno>

namespace bellwether {

// What is wrong with rights and names stays wrong; disks get room again and come back.  `error` is
// an errno.
inline bool may_pass(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return false;
    default:
      return true;
  }
}

}  // namespace bellwether
