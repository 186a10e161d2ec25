// The file behind the flag: found or made, checked, locked against a second sidecar, and mapped.
//
// Applications keep it mapped across restarts of the sidecar, so it is never cut short, and only
// replaced when somebody else has spoiled it.  It is believed to be nobody's trap: no link of any
// kind, this user's own, and in a folder where nobody else can put another one (flag_folder.hh).
#pragma once

#include <bellwether/leader_flag.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "io/flag/rescued_page.hh"
#include "io/flag/robust_futex.hh"
#include "io/loop/files.hh"

namespace bellwether::io {

// The file's contents: what applications read, and behind it what the kernel reads.
struct FlagPage {
  leader_flag_line line;
  alignas(64) RobustList holder;
};
static_assert(sizeof(FlagPage) <= LEADER_FLAG_FILE_BYTES);

struct FlagFileSettings {
  std::filesystem::path path;     // on a tmpfs
  mode_t mode = 0640;             // readers need no more than to read
  bool is_folder_shared = false;  // flag_folder_flaw()
  uint8_t guard = LEADER_FLAG_GUARD_NONE;
};

class FlagFile {
 public:
  // Makes the file, and the folder it lies in, where they are missing; gives it its mode in any
  // case.  Throws FileError when that does not work, when it is not a flag or not safe to use, or
  // when another process holds its lock.
  explicit FlagFile(const FlagFileSettings& settings);
  ~FlagFile();
  FlagFile(const FlagFile&) = delete;
  FlagFile& operator=(const FlagFile&) = delete;

  FlagPage& page() { return *page_; }

  // On a disk the kernel may stop a writer for as long as the disk takes.
  bool is_in_memory() const;

  // Why its page may be written to a swap space, where the kernel could not mark the owner of a
  // process that is ending: an errno; 0: it never is.
  int lock_flaw() const { return lock_flaw_; }

  // Why those who open the path now do not find this file, as in "was removed"; empty: they do.
  std::string loss() const;

  // What has happened to the file itself, as in "was cut short", so that it is not a flag any more
  // or says something other than `expected`; empty: nothing.
  std::string damage(const FlagPage& expected) const;

  // Gives the file its mode again; what it had become, as in "had its mode changed to 0600", or
  // nothing.  Throws FileError.
  std::string restore_mode() const;

  // Why the folder keeps readers from the file who could get at it, or lets others put another in
  // its place, as FileError says it; empty: it does not.
  std::string folder_flaw() const;

  bool is_in_folder_of(const FlagFile& other) const {
    return folder_.st_dev == other.folder_.st_dev && folder_.st_ino == other.folder_.st_ino;
  }

  // Takes its name away, where loss() has just found it.  Throws FileError.
  void remove() const;

 private:
  FlagFileSettings settings_;
  struct stat folder_ {};  // as it was when the file was opened
  FileDescriptor file_;    // open, and by this locked, for as long as this object lives
  FlagPage* page_ = nullptr;
  std::optional<RescuedPage> rescue_{};
  int lock_flaw_ = 0;
};

}  // namespace bellwether::io
