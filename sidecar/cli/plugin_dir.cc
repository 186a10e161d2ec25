// The way from the program to the plugins is fixed when the program is built.
#include "cli/plugin_dir.hh"

#include "core/plugin_facts.hh"
#include "plugin_loader.hh"

#ifndef BELLWETHER_PLUGIN_DIR_FROM_BIN
#error "the build passes the way from the program to the plugins as BELLWETHER_PLUGIN_DIR_FROM_BIN"
#endif

namespace bellwether::cli {

std::filesystem::path installed_plugin_dir() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path() / BELLWETHER_PLUGIN_DIR_FROM_BIN).lexically_normal();
}

Environment environment_with_plugins(Onlooker onlooker) {
  Environment environment = process_environment(onlooker);
  environment.variants = [](const std::string& plugin) {
    try {
      return variants_of(load_plugin(plugin, installed_plugin_dir()));
    } catch (const PluginError&) {
      return std::vector<std::string>{};
    }
  };
  return environment;
}

std::string plugin_flaw(const std::string& plugin) {
  try {
    load_plugin(plugin, installed_plugin_dir());
    return "";
  } catch (const PluginError& error) {
    return error.what();
  }
}

}  // namespace bellwether::cli
