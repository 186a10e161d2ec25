// The checks go from what can be known without trusting the library to what it says of itself:
// the file, the symbol, the frozen first eight bytes, the size, and only then the fields.
#include "plugin_loader.hh"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/file_turn.hh"
#include "io/loop/files.hh"

namespace bellwether {
namespace {

namespace fs = std::filesystem;

// What this host uses of election_plugin: all of 1.0.  Not sizeof(election_plugin), which grows
// with the header: a plugin of an earlier minor version has everything needed here.
constexpr size_t kNeededSize =
    offsetof(election_plugin, extension) + sizeof(election_plugin::extension);

constexpr const char* kDefineAsData =
    "define it as `const election_plugin bellwether_election_plugin = {...}`";

[[noreturn]] void refuse(const fs::path& file, const std::string& flaw, const std::string& remedy) {
  throw PluginError("plugin " + file.string() + " " + flaw + "; " + remedy);
}

[[noreturn]] void fail(const fs::path& file, const std::string& failure, int error) {
  throw PluginError("plugin " + file.string() + " " + failure + ": " +
                        std::generic_category().message(error) +
                        "; name a file that this user can read",
                    io::may_pass(error));
}

// dlopen() does not tell what is wrong with the file from what is wrong with the host just now.
void require_readable_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    refuse(file, "does not exist",
           "install it there, or name another (a name without '/' is looked up in the plugin "
           "folder, anything else is a path)");
  }
  if (status.type() == fs::file_type::none) fail(file, "cannot be examined", error.value());
  // A FIFO would even keep dlopen waiting for ever.
  if (!fs::is_regular_file(status)) refuse(file, "is not a regular file", "name the .so itself");
  const io::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.is_open()) fail(file, "cannot be opened", errno);
}

void* open_library(const fs::path& file) {
  // NOW: a missing function shows here, not in the middle of an election.  LOCAL: plugins that link
  // different versions of one library do not meet.  NODELETE: a dlclose, by whomever, does not take
  // away what we refer to; so the handle itself can be forgotten.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    refuse(file, std::string("cannot be loaded: ") + dlerror(),
           "build it for this machine, with all it links to installed");
  }
  return library;
}

const void* find_symbol(const fs::path& file, void* library) {
  const void* const symbol = dlsym(library, ELECTION_PLUGIN_SYMBOL);
  if (symbol == nullptr) {
    refuse(
        file, "does not export " ELECTION_PLUGIN_SYMBOL,
        "define that symbol as election_plugin.h declares it (extern \"C\", default visibility)");
  }
  return symbol;
}

// How many bytes of data the library itself says are behind `symbol`.
size_t data_size(const fs::path& file, const void* symbol) {
  Dl_info library;
  void* entry = nullptr;
  const bool is_found = dladdr1(symbol, &library, &entry, RTLD_DL_SYMENT) != 0 && entry != nullptr;
  const auto* const elf_symbol = static_cast<const ElfW(Sym)*>(entry);
  if (!is_found || ELF64_ST_TYPE(elf_symbol->st_info) != STT_OBJECT) {
    refuse(file, "exports " ELECTION_PLUGIN_SYMBOL " as something other than data", kDefineAsData);
  }
  return elf_symbol->st_size;
}

// Reads the first eight bytes and nothing else: all that a plugin of any major version has.
void require_major(const fs::path& file, const void* symbol, size_t size_of_data) {
  struct {
    uint32_t abi_major = 0;
    uint32_t abi_minor = 0;
  } version;
  static_assert(sizeof version == 8);
  // A version and nothing behind it is not a plugin of any version; mostly it is a pointer to one.
  if (size_of_data <= sizeof version) {
    refuse(file,
           "has only " + std::to_string(size_of_data) +
               " bytes at " ELECTION_PLUGIN_SYMBOL ", perhaps a pointer",
           kDefineAsData);
  }
  std::memcpy(&version, symbol, sizeof version);
  // The minor version informs people only; what counts is the size.
  if (version.abi_major != ELECTION_ABI_MAJOR) {
    refuse(file,
           "was built for version " + std::to_string(version.abi_major) + "." +
               std::to_string(version.abi_minor) + " of the plugin ABI, this host has " +
               std::to_string(ELECTION_ABI_MAJOR) + "." + std::to_string(ELECTION_ABI_MINOR),
           "build it against the election_plugin.h of this host");
  }
}

void require_size(const fs::path& file, const election_plugin& plugin, size_t size_of_data) {
  const std::string remedy = "set it to sizeof(election_plugin)";
  if (plugin.size < kNeededSize) {
    refuse(file,
           "gives its size as " + std::to_string(plugin.size) + " bytes, this host needs " +
               std::to_string(kNeededSize),
           remedy);
  }
  if (plugin.size > size_of_data) {
    refuse(file,
           "gives its size as " + std::to_string(plugin.size) + " bytes, but has only " +
               std::to_string(size_of_data),
           remedy);
  }
}

void require_name_and_version(const fs::path& file, const election_plugin& plugin) {
  if (plugin.name == nullptr) refuse(file, "has no name (NULL)", "set `name`");
  if (*plugin.name == '\0') refuse(file, "has an empty name", "set `name`");
  if (plugin.version == nullptr) refuse(file, "has no version (NULL)", "set `version`");
}

void require_variants(const fs::path& file, const election_plugin& plugin) {
  if (plugin.variants == nullptr) {
    refuse(file, "has no list of variants (NULL)", "set `variants`");
  }
  if (*plugin.variants == nullptr) {
    refuse(file, "has an empty list of variants", "name at least one");
  }
  std::vector<std::string_view> seen;
  for (const char* const* variant = plugin.variants; *variant != nullptr; ++variant) {
    const std::string_view name = *variant;
    if (name.empty()) refuse(file, "has a variant with an empty name", "give it one");
    for (const std::string_view other : seen) {
      if (name == other) {
        refuse(file, "has two variants called " + std::string(name), "rename one of them");
      }
    }
    seen.push_back(name);
  }
}

void require_functions(const fs::path& file, const election_plugin& plugin) {
  const auto require = [&file](bool is_there, const char* name) {
    if (is_there) return;
    refuse(file, std::string("has no function `") + name + "` (NULL)",
           "define it, even if it does nothing");
  };
  require(plugin.create != nullptr, "create");
  require(plugin.destroy != nullptr, "destroy");
  require(plugin.step != nullptr, "step");
  require(plugin.extension != nullptr, "extension");
}

}  // namespace

fs::path plugin_file(std::string_view name_or_path, const fs::path& plugin_dir) {
  if (name_or_path.empty()) {
    throw PluginError("the name of the plugin is empty; name one in " + plugin_dir.string() +
                      ", or give a path");
  }
  if (name_or_path.find('/') != std::string_view::npos) return name_or_path;
  return plugin_dir / ("bellwether-" + std::string(name_or_path) + ".so");
}

const election_plugin& load_plugin_file(const fs::path& file) {
  // dlopen would search the system's library folders for a name without a '/'.
  if (!file.has_parent_path()) return load_plugin_file("." / file);
  const FileTurn turn(file.string());
  require_readable_file(file);
  const void* const symbol = find_symbol(file, open_library(file));
  const size_t size_of_data = data_size(file, symbol);
  require_major(file, symbol, size_of_data);
  const auto& plugin = *static_cast<const election_plugin*>(symbol);
  require_size(file, plugin, size_of_data);
  require_name_and_version(file, plugin);
  require_variants(file, plugin);
  require_functions(file, plugin);
  return plugin;
}

const election_plugin& load_plugin(std::string_view name_or_path, const fs::path& plugin_dir) {
  return load_plugin_file(plugin_file(name_or_path, plugin_dir));
}

void require_variant(const election_plugin& plugin, std::string_view variant) {
  std::string known;
  for (const char* const* other = plugin.variants; *other != nullptr; ++other) {
    if (variant == *other) return;
    known += (known.empty() ? "" : ", ") + std::string(*other);
  }
  throw PluginError("plugin " + std::string(plugin.name) + " has no variant \"" +
                    std::string(variant) + "\"; it has " + known);
}

}  // namespace bellwether
