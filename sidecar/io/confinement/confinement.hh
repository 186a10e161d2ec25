// What this process can no longer do, by its own will, whatever code it may be made to run: start
// programs, write where it has nothing to write, or reach for parts of the kernel that an elector
// has no business with.
//
// Reading is left free.  Which files it is to read a new configuration may say, and so may links
// and the libraries that look up names; a rule that forgot one would fail late, and far from its
// cause.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bellwether::io {

// What is in force; `false`, 0: not.
struct Confinement {
  bool has_no_new_privileges = false;
  bool has_system_call_filter = false;  // system_calls.cc
  int landlock_abi = 0;                 // which version of its rules; landlock.cc
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

// --- landlock.cc ---

// Where a process may write, and that it starts no programs: rules that the kernel keeps for it
// (Linux 5.13 and later; Documentation/userspace-api/landlock.rst).

// The version of the rules that this kernel knows; 0: none, and errno says why.
int landlock_abi();

// From now on this thread, and all that it starts, executes no file, and opens for writing, makes,
// removes, renames and cuts files only below `writable`; what is open stays so.  A folder that is
// not there yet stands for the nearest one above, in which it can then be made.  For a process
// without new privileges only.  False, and errno says why, when the kernel refuses it.
bool forbid_writing_outside(const std::vector<std::filesystem::path>& writable);

// --- system_calls.cc ---

// Which system calls the process does without, and that the kernel refuses them from now on
// (seccomp).
//
// A list of what is refused, not of what is allowed: the C library, OpenSSL and the kernel learn
// new calls every year, and a sidecar that an update of its host ends has cost more than the list
// has gained.  Refused is what leads out of a process or deep into the kernel.

// Fail with EPERM.  Apart from these, clone3 is not there (ENOSYS: the C library takes clone),
// clone makes no namespaces (EPERM), and sockets are of the families unix, IPv4, IPv6 and netlink
// (EAFNOSUPPORT).
std::vector<uint32_t> refused_system_calls();

// For all threads, for good.  A process without new privileges only.  False, and errno says why,
// when the kernel refuses it: ENOSYS where this processor has no list.
bool refuse_system_calls();

}  // namespace bellwether::io
