// Loads election plugins.  A plugin runs inside this process, so one mistake in it is ours: the
// library is looked over before any of its functions is called, and refused in words that tell its
// author what to do.  A loaded library stays for the life of the process (RTLD_NODELETE), hence
// there is no handle to keep and the references below never dangle.
#pragma once

#include <bellwether/election_plugin.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bellwether {

// Why a plugin was refused; what() is one line: the file (or plugin), the flaw, the remedy.
// `may_pass`: it may be over at another start, though nobody has done anything about it.
class PluginError : public std::runtime_error {
 public:
  explicit PluginError(const std::string& text, bool may_pass = false)
      : std::runtime_error(text), may_pass_(may_pass) {}

  bool may_pass() const { return may_pass_; }

 private:
  bool may_pass_;
};

// Where the plugin that a user calls `name_or_path` lies: a name, which has no '/', stands for
// <plugin_dir>/bellwether-<name>.so; everything else is a path already.
std::filesystem::path plugin_file(std::string_view name_or_path,
                                  const std::filesystem::path& plugin_dir);

// Loads the plugin in `file` and checks it; throws PluginError.  Loading runs the library's static
// initialisers.  To load a file again gives the same plugin, even if the file was replaced.
const election_plugin& load_plugin_file(const std::filesystem::path& file);

// Loads the plugin that a user calls `name_or_path` (see plugin_file); throws PluginError.
const election_plugin& load_plugin(std::string_view name_or_path,
                                   const std::filesystem::path& plugin_dir);

// Throws PluginError, which lists the known variants, unless the plugin has the one named.
void require_variant(const election_plugin& plugin, std::string_view variant);

}  // namespace bellwether
