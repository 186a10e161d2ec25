// By owner and mode alone.
#include "io/state/folder_trust.hh"

#include <sys/stat.h>

namespace bellwether {

std::string who_else_may_write(mode_t mode, uid_t owner, uid_t self) {
  if (owner != self && owner != 0) return "belongs to user " + std::to_string(owner);
  if ((mode & S_IWOTH) != 0) return "can be written by everybody";
  if ((mode & S_IWGRP) != 0 && (mode & S_ISGID) == 0) return "can be written by its group";
  return "";
}

}  // namespace bellwether
