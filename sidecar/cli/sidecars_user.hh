// Whose rights files are judged with: the sidecar's, not those of root, who may read all.
#pragma once

#include <string>

namespace bellwether::cli {

inline constexpr const char* kUserHelp =
    "with whose rights files are judged, if root asks\n(default: the owner of the state folder)";

// Root becomes the user `name` (or of that number), for good; without one, whom `state_dir` belongs
// to, or belong to once the package's unit has made it.  Returns the name of whom it has become;
// "": it stays who it is.  Throws UsageError if there is no such user, or who asks cannot become
// it.
std::string become_sidecars_user(const std::string& name, const std::string& state_dir);

}  // namespace bellwether::cli
