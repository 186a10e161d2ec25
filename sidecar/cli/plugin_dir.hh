// Where the plugins lie that were installed, or built, together with this program.
#pragma once

#include <filesystem>

namespace bellwether::cli {

// Found from where the program itself lies, so that an installed tree can be moved.
std::filesystem::path installed_plugin_dir();

}  // namespace bellwether::cli
