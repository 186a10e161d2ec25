// Whose word is a file in this folder?
//
// Who may write into the flag's folder may put another file in the flag's place, and so tell
// applications that they lead.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

namespace bellwether {

// Why no sidecar of `user` may keep its flag in a folder like this; empty: it may.  `is_shared`
// (flag.shared_folder): others may write into it, and the operator answers for them.
std::string flag_folder_flaw(const struct stat& folder, uid_t user, bool is_shared);

// As in "0755".
std::string mode_text(mode_t mode);

// What to do about it.
inline constexpr const char* kFlagFolderRemedy =
    "set flag.path to a file in a folder of the sidecar's user, or of root, that others cannot "
    "write (mode 0755); where nobody else has this one mounted for writing, as a pod's emptyDir, "
    "set "
    "flag.shared_folder = \"on\"";

}  // namespace bellwether
