// Where the plugins lie that were installed, or built, together with this program; and what a
// configuration may take from them.
#pragma once

#include <filesystem>
#include <string>

#include "config/environment.hh"

namespace bellwether::cli {

// Found from where the program itself lies, so that an installed tree can be moved.
std::filesystem::path installed_plugin_dir();

// That of this process, which loads the plugin of a configuration to ask for its variants.  One
// that cannot be loaded has none: whoever needs it will say why.
Environment environment_with_plugins(Onlooker onlooker = Onlooker::kYes);

// Why it cannot be loaded; "": it can.
std::string plugin_flaw(const std::string& plugin);

}  // namespace bellwether::cli
