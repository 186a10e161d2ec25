// Where the flag lies unless flag.path says so, and whose word a file in a folder is.
//
// Who may write into the flag's folder may put another file in the flag's place, and so tell
// applications that they lead.
//
// /run/bellwether, where a service manager or a pod has made that for the sidecar's user, is better
// than a folder in /dev/shm: logind does not empty it, and no stranger can have made it.  But it
// may as well be another service's, and appear at any time.  A flag that lies in either stays
// there, for applications have it mapped.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

namespace bellwether::io {

// Why no sidecar of `user` may keep its flag in a folder like this; empty: it may.  `is_shared`
// (flag.shared_folder): others may write into it, and the operator answers for them.
std::string flag_folder_flaw(const struct stat& folder, uid_t user, bool is_shared);

// As in "0755".
std::string mode_text(mode_t mode);

// What to do about it.
inline constexpr const char* kFlagFolderRemedy =
    "set flag.path to a file in a folder of the sidecar's user, or of root, that others cannot "
    "write (mode 0755); where nobody else has this one mounted for writing, as a pod's emptyDir, "
    "set flag.shared_folder = \"on\"";

struct FlagFolders {
  std::string run = "/run/bellwether";
  std::string shm = "/dev/shm/bellwether";
};

// The folder for the flag of `group` of a sidecar that runs as `user`.  `is_shared`:
// flag.shared_folder.  Looks at what is there, and changes nothing.
std::string default_flag_folder(const std::string& group, uid_t user, bool is_shared,
                                const FlagFolders& folders = {});

// Whose sidecar somebody who looks on, and runs as `self`, has in mind: the owner of the flag of
// `group`, or else of the folder that is made for one.
uid_t user_of_sidecar(const std::string& group, uid_t self, const FlagFolders& folders = {});

}  // namespace bellwether::io
