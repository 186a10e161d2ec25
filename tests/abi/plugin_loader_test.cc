// What the loader accepts and what it refuses.  plugins/ holds one library for each flaw; that each
// message is the right one matters as much as the refusal, for the author of a plugin sees only it.
#include "plugin_loader.hh"

#include <dlfcn.h>
#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace {

using bellwether::load_plugin;
using bellwether::load_plugin_file;
using bellwether::plugin_file;
using bellwether::PluginError;

namespace fs = std::filesystem;

// Where the build puts the libraries of plugins/, and where the tests may write.
const fs::path& plugins() {
  static const fs::path kFolder = BELLWETHER_TEST_PLUGINS;
  return kFolder;
}

// The message with which `action` is refused.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const PluginError& error) {
    return error.what();
  }
  return "not refused";
}

std::string refusal_of_file(const fs::path& file) {
  return refusal([&] { load_plugin_file(file); });
}

// The message about the plugin `name`, after the file, which each message begins with.
std::string flaw_of(const std::string& name) {
  const std::string message = refusal([&] { load_plugin(name, plugins()); });
  const std::string start = "plugin " + plugin_file(name, plugins()).string() + " ";
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(accepted)

BOOST_AUTO_TEST_CASE(a_plugin_without_fault_loads) {
  const election_plugin& plugin = load_plugin("good", plugins());
  BOOST_TEST(plugin.abi_major == ELECTION_ABI_MAJOR);
  BOOST_TEST(plugin.size == sizeof(election_plugin));
  BOOST_TEST(std::string(plugin.name) == "test");
  BOOST_TEST(std::string(plugin.version) == "1.2.3");
  BOOST_TEST((plugin.extension("bellwether.no_such_thing/1") == nullptr));
}

BOOST_AUTO_TEST_CASE(a_plugin_of_a_later_minor_version_with_appended_fields_loads) {
  const election_plugin& plugin = load_plugin("later_minor", plugins());
  BOOST_TEST(plugin.abi_minor > ELECTION_ABI_MINOR);
  BOOST_TEST(plugin.size > sizeof(election_plugin));
  BOOST_TEST(std::string(plugin.name) == "later");
}

BOOST_AUTO_TEST_CASE(a_plugin_that_is_loaded_twice_is_the_same_plugin) {
  BOOST_TEST(&load_plugin("good", plugins()) == &load_plugin("good", plugins()));
}

BOOST_AUTO_TEST_CASE(two_plugins_do_not_meet_though_they_export_the_same_symbol) {
  BOOST_TEST(&load_plugin("good", plugins()) != &load_plugin("later_minor", plugins()));
  BOOST_TEST((dlsym(RTLD_DEFAULT, ELECTION_PLUGIN_SYMBOL) == nullptr));
}

BOOST_AUTO_TEST_CASE(a_plugin_stays_even_if_its_library_is_closed) {
  const election_plugin& plugin = load_plugin("closed", plugins());
  void* const library = dlopen(plugin_file("closed", plugins()).c_str(), RTLD_NOW | RTLD_NOLOAD);
  dlclose(library);
  dlclose(library);  // the loader's own
  BOOST_TEST(std::string(plugin.name) == "test");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(name_or_path)

BOOST_AUTO_TEST_CASE(a_name_without_a_slash_is_looked_up_in_the_plugin_folder) {
  BOOST_TEST(plugin_file("bully", "/usr/lib/bellwether") ==
             "/usr/lib/bellwether/bellwether-bully.so");
}

BOOST_AUTO_TEST_CASE(a_name_that_looks_like_a_file_is_a_name_as_long_as_it_has_no_slash) {
  BOOST_TEST(plugin_file("my.so", "/p") == "/p/bellwether-my.so.so");
}

BOOST_AUTO_TEST_CASE(anything_with_a_slash_is_a_path) {
  BOOST_TEST(plugin_file("/opt/mine.so", "/p") == "/opt/mine.so");
  BOOST_TEST(plugin_file("./mine.so", "/p") == "./mine.so");
  BOOST_TEST(plugin_file("sub/mine", "/p") == "sub/mine");
}

BOOST_AUTO_TEST_CASE(an_empty_name_is_refused) {
  BOOST_TEST(refusal([] { plugin_file("", "/p"); }) ==
             "the name of the plugin is empty; name one in /p, or give a path");
}

BOOST_AUTO_TEST_CASE(a_path_loads_what_the_name_loads) {
  const std::string path = (plugins() / "bellwether-good.so").string();
  BOOST_TEST(&load_plugin(path, "/nowhere") == &load_plugin("good", plugins()));
}

BOOST_AUTO_TEST_CASE(a_file_name_alone_means_the_working_folder_not_the_library_path) {
  // dlopen("libc.so.6") would succeed, and the complaint would be about its symbols.
  BOOST_TEST(refusal_of_file("libc.so.6").starts_with("plugin ./libc.so.6 does not exist"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refused_as_a_file)

BOOST_AUTO_TEST_CASE(a_file_that_does_not_exist) {
  BOOST_TEST(flaw_of("no_such_plugin") ==
             "does not exist; install it there, or name another (a name without '/' is looked up "
             "in the plugin folder, anything else is a path)");
}

BOOST_AUTO_TEST_CASE(a_path_that_leads_through_a_file) {
  const fs::path file = plugins() / "bellwether-good.so" / "mine.so";
  BOOST_TEST(refusal_of_file(file).find("does not exist") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_path_that_cannot_be_followed) {
  const fs::path loop = plugins() / "loop.so";
  fs::remove(loop);
  fs::create_symlink("loop.so", loop);
  BOOST_TEST(refusal_of_file(loop) == "plugin " + loop.string() +
                                          " cannot be examined: Too many levels of symbolic links; "
                                          "name a file that this user can read");
  fs::remove(loop);
}

BOOST_AUTO_TEST_CASE(a_folder) {
  BOOST_TEST(refusal_of_file(plugins()) ==
             "plugin " + plugins().string() + " is not a regular file; name the .so itself");
}

#ifndef __SANITIZE_ADDRESS__  // which looks at objects through a descriptor of its own
// Whoever starts it again after a while need not be told to build another one.
BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_opened_just_now) {
  const auto refusal_of = [](const fs::path& file) -> std::optional<PluginError> {
    try {
      load_plugin_file(file);
    } catch (const PluginError& error) {
      return error;
    }
    return std::nullopt;
  };
  const fs::path file = plugin_file("zeros", plugins());
  struct rlimit before {};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const struct rlimit none { .rlim_cur = 0, .rlim_max = before.rlim_max };
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto for_now = refusal_of(file);
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  BOOST_REQUIRE(for_now.has_value());
  BOOST_TEST(std::string(for_now->what()).find("cannot be opened: Too many open files; ") !=
             std::string::npos);
  BOOST_TEST(for_now->may_pass());
  BOOST_TEST(!refusal_of(file).value().may_pass());
  BOOST_TEST(!refusal_of(plugins() / "nobody.so").value().may_pass());
}
#endif

BOOST_AUTO_TEST_CASE(a_file_that_is_no_library) {
  std::ofstream(plugin_file("text", plugins())) << "#!/bin/sh\n";
  const std::string flaw = flaw_of("text");
  BOOST_TEST_INFO(flaw);
  BOOST_TEST(flaw.starts_with("cannot be loaded: "));
  BOOST_TEST(flaw.find(": file too short; ") != std::string::npos);
  BOOST_TEST(flaw.ends_with("; build it for this machine, with all it links to installed"));
}

BOOST_AUTO_TEST_CASE(a_library_that_calls_what_no_library_has) {
  const std::string flaw = flaw_of("undefined_function");
  BOOST_TEST_INFO(flaw);
  BOOST_TEST(flaw.starts_with("cannot be loaded: "));
  BOOST_TEST(flaw.find(": undefined symbol: bellwether_test_nobody_defines_this; ") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refused_for_its_symbol)

BOOST_AUTO_TEST_CASE(a_library_without_the_symbol) {
  BOOST_TEST(flaw_of("no_symbol") ==
             "does not export bellwether_election_plugin; define that symbol as election_plugin.h "
             "declares it (extern \"C\", default visibility)");
}

BOOST_AUTO_TEST_CASE(a_function_of_that_name) {
  BOOST_TEST(flaw_of("symbol_is_function") ==
             "exports bellwether_election_plugin as something other than data; define it as "
             "`const election_plugin bellwether_election_plugin = {...}`");
}

BOOST_AUTO_TEST_CASE(a_pointer_of_that_name) {
  BOOST_TEST(flaw_of("symbol_is_pointer") ==
             "has only 8 bytes at bellwether_election_plugin, perhaps a pointer; define it as "
             "`const election_plugin bellwether_election_plugin = {...}`");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refused_for_its_version_or_size)

BOOST_AUTO_TEST_CASE(another_major_version_whatever_comes_behind_its_first_eight_bytes) {
  BOOST_TEST(flaw_of("other_major") ==
             "was built for version 2.7 of the plugin ABI, this host has 1.0; build it against the "
             "election_plugin.h of this host");
}

BOOST_AUTO_TEST_CASE(a_table_that_was_never_filled_in) {
  BOOST_TEST(flaw_of("zeros").starts_with("was built for version 0.0 of the plugin ABI"));
}

BOOST_AUTO_TEST_CASE(a_size_smaller_than_this_host_needs) {
  BOOST_TEST(flaw_of("size_too_small") ==
             "gives its size as 64 bytes, this host needs 72; set it to sizeof(election_plugin)");
}

BOOST_AUTO_TEST_CASE(a_size_larger_than_the_table) {
  BOOST_TEST(flaw_of("size_too_large") ==
             "gives its size as 4096 bytes, but has only 72; set it to sizeof(election_plugin)");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refused_for_its_names)

BOOST_AUTO_TEST_CASE(no_name) {
  BOOST_TEST(flaw_of("name_null") == "has no name (NULL); set `name`");
}

BOOST_AUTO_TEST_CASE(an_empty_name) {
  BOOST_TEST(flaw_of("name_empty") == "has an empty name; set `name`");
}

BOOST_AUTO_TEST_CASE(no_version) {
  BOOST_TEST(flaw_of("version_null") == "has no version (NULL); set `version`");
}

BOOST_AUTO_TEST_CASE(no_list_of_variants) {
  BOOST_TEST(flaw_of("variants_null") == "has no list of variants (NULL); set `variants`");
}

BOOST_AUTO_TEST_CASE(an_empty_list_of_variants) {
  BOOST_TEST(flaw_of("variants_none") == "has an empty list of variants; name at least one");
}

BOOST_AUTO_TEST_CASE(a_variant_with_an_empty_name) {
  BOOST_TEST(flaw_of("variant_empty") == "has a variant with an empty name; give it one");
}

BOOST_AUTO_TEST_CASE(two_variants_of_one_name) {
  BOOST_TEST(flaw_of("variant_twice") == "has two variants called plain; rename one of them");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refused_for_a_missing_function)

BOOST_AUTO_TEST_CASE(no_create) {
  BOOST_TEST(flaw_of("create_null") ==
             "has no function `create` (NULL); define it, even if it does nothing");
}

BOOST_AUTO_TEST_CASE(no_destroy) {
  BOOST_TEST(flaw_of("destroy_null") ==
             "has no function `destroy` (NULL); define it, even if it does nothing");
}

BOOST_AUTO_TEST_CASE(no_step) {
  BOOST_TEST(flaw_of("step_null") ==
             "has no function `step` (NULL); define it, even if it does nothing");
}

BOOST_AUTO_TEST_CASE(no_extension) {
  BOOST_TEST(flaw_of("extension_null") ==
             "has no function `extension` (NULL); define it, even if it does nothing");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(variants)

BOOST_AUTO_TEST_CASE(a_variant_that_the_plugin_has_is_accepted) {
  const election_plugin& plugin = load_plugin("good", plugins());
  BOOST_CHECK_NO_THROW(bellwether::require_variant(plugin, "plain"));
  BOOST_CHECK_NO_THROW(bellwether::require_variant(plugin, "fancy"));
}

BOOST_AUTO_TEST_CASE(another_variant_is_refused_with_a_list_of_those_there_are) {
  const election_plugin& plugin = load_plugin("good", plugins());
  BOOST_TEST(refusal([&] { bellwether::require_variant(plugin, "plai"); }) ==
             "plugin test has no variant \"plai\"; it has plain, fancy");
}

BOOST_AUTO_TEST_SUITE_END()
