// Which failures of system calls on files are over at another try, perhaps, though nobody has done
// anything about them.
#pragma once

#include <cerrno>

namespace bellwether {

// What is wrong with rights and names, or what a file system is not made for, stays wrong; disks
// get room again and come back.  `error` is an errno.
inline bool may_pass(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP:
      return false;
    default:
      return true;
  }
}

}  // namespace bellwether
