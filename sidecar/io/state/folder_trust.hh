// Who may put other files into a folder, older copies of the state among them.  Pure.
#pragma once

#include <sys/types.h>

#include <string>

namespace bellwether {

// Who can write to a folder beside root and the user `self`, as a phrase ("belongs to user 7");
// empty when nobody can who was not meant to.  A group that writes to a folder with the setgid bit
// is meant to: so Kubernetes gives a volume to a pod's fsGroup.
std::string who_else_may_write(mode_t mode, uid_t owner, uid_t self);

}  // namespace bellwether
