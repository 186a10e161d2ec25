// What this process can no longer do, by its own will, whatever code it may be made to run: start
// programs, write where it has nothing to write, or reach for parts of the kernel that an elector
// has no business with.
//
// Reading is left free.  Which files it is to read a new configuration may say, and so may links
// and the libraries that look up names; a rule that forgot one would fail late, and far from its
// cause.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bellwether::io {

// What is in force; `false`, 0: not.
struct Confinement {
  bool has_no_new_privileges = false;
  bool has_system_call_filter = false;  // system_calls.hh
  int landlock_abi = 0;                 // which version of its rules; landlock.hh
  std::string lack{};                   // why not all is; "": all is
};

struct ConfinementSettings {
  std::vector<std::filesystem::path> writable;  // folders; files are written below them alone
  std::string why_writing_is_free{};            // ""; otherwise anywhere, and this is `lack`
};

// Confines the calling thread and all that it starts from now on, for good; so it comes before
// other threads.  As far as the kernel can: what it cannot is told, and changes nothing else.
Confinement confine(const ConfinementSettings& settings);

// The folders of files that are made again when somebody has removed them.  Where a folder can be
// removed as well, the one above is among them, unless that is "/", for in it the new one will be.
std::vector<std::filesystem::path> folders_of(const std::vector<std::filesystem::path>& files);

}  // namespace bellwether::io
