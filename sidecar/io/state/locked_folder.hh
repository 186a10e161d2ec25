// A folder of small files that one process at a time uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "io/loop/file_descriptor.hh"
#include "io/state/file_calls.hh"
#include "io/state/state_error.hh"

namespace bellwether {

class LockedFolder {
 public:
  // Opens the folder, makes it where it is missing (also the folders above it; all 0700), and locks
  // it until this object goes or the process dies: an OFD lock on its file `lock`, which works on
  // local file systems.  Throws StateError, also when another process has the lock.  `calls` must
  // outlive this object.
  LockedFolder(std::filesystem::path path, FileCalls& calls);

  // Opens the file `name` with the given flags of open(2); nothing when it does not exist.  Throws
  // StateError when it cannot be opened or is not a regular file of this user.
  std::optional<FileDescriptor> open(const char* name, int flags) const;

  // The contents of a file, but of longer ones only limit + 1 bytes; nothing when it does not
  // exist.  Throws StateError.
  std::optional<std::string> read(const char* name, size_t limit) const;

  // Gives the file `name` new contents: whenever the machine stops, the file has the old ones or
  // the new ones, and after this call the new ones.  Throws StateError.
  void replace(const char* name, std::span<const uint8_t> contents) const;

  // Who else may put files into it, as who_else_may_write() has it.
  std::string weakness() const;

  // The path of a file in it, for messages.
  std::string path_of(const char* name) const { return (path_ / name).string(); }

 private:
  void make() const;
  void sync(const std::filesystem::path& folder) const;
  void lock();
  FileDescriptor checked(int fd, const char* name) const;

  std::filesystem::path path_;
  FileCalls& calls_;
  FileDescriptor folder_;
  FileDescriptor lock_;
};

}  // namespace bellwether
