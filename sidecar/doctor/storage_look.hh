// Looks at the state folder and the flag as they are: nothing is made, locked or changed.
#pragma once

#include <filesystem>

#include "doctor/facts.hh"

namespace bellwether::doctor {

// `folder` is not empty.
StateFacts look_at_state(const std::filesystem::path& folder);

FlagFacts look_at_flag(const std::filesystem::path& path, bool is_folder_shared = false);

}  // namespace bellwether::doctor
