// Where a process may write, and that it starts no programs: rules that the kernel keeps for it
// (Linux 5.13 and later; Documentation/userspace-api/landlock.rst).
#pragma once

#include <filesystem>
#include <vector>

namespace bellwether::io {

// The version of the rules that this kernel knows; 0: none, and errno says why.
int landlock_abi();

// From now on this thread, and all that it starts, executes no file, and opens for writing, makes,
// removes, renames and cuts files only below `writable`; what is open stays so.  A folder that is
// not there yet stands for the nearest one above, in which it can then be made.  For a process
// without new privileges only.  False, and errno says why, when the kernel refuses it.
bool forbid_writing_outside(const std::vector<std::filesystem::path>& writable);

}  // namespace bellwether::io
