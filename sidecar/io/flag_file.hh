// The file behind the flag: found or made, checked, locked against a second sidecar, and mapped.
//
// Applications keep it mapped across restarts of the sidecar, so it is never replaced and never
// cut short.  It is believed to be nobody's trap: no link of any kind, and this user's own.
#pragma once

#include <bellwether/leader_flag.h>
#include <sys/types.h>

#include <filesystem>

#include "io/file_descriptor.hh"
#include "io/flag_error.hh"
#include "io/robust_futex.hh"

namespace bellwether {

// The file's contents: what applications read, and behind it what the kernel reads.
struct FlagPage {
  leader_flag_line line;
  alignas(64) RobustList holder;
};
static_assert(sizeof(FlagPage) <= LEADER_FLAG_FILE_BYTES);

class FlagFile {
 public:
  // Makes the file, and the folder it lies in, where they are missing; gives it `mode` in any case.
  // Throws FlagError when that does not work, when it is not a flag or not safe to use, or when
  // another process holds its lock.
  FlagFile(const std::filesystem::path& path, mode_t mode);
  ~FlagFile();
  FlagFile(const FlagFile&) = delete;
  FlagFile& operator=(const FlagFile&) = delete;

  FlagPage& page() { return *page_; }

  // On a disk the kernel may stop a writer for as long as the disk takes.
  bool is_in_memory() const;

 private:
  FileDescriptor file_;  // open, and by this locked, for as long as this object lives
  FlagPage* page_ = nullptr;
};

}  // namespace bellwether
