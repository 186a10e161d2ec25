// A folder of small files that one process at a time uses.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "io/loop/files.hh"

namespace bellwether::io {

// The system calls that change what a disk holds, so that a test can let each of them fail, or let
// the process die between any two of them: negative on failure, and errno says why.
class FileCalls {
 public:
  virtual ~FileCalls() = default;

  virtual int make_folder(const char* path, mode_t mode) { return ::mkdir(path, mode); }
  virtual int open(int folder, const char* name, int flags, mode_t mode) {
    return ::openat(folder, name, flags, mode);
  }
  virtual ssize_t write(int fd, std::span<const uint8_t> bytes, uint64_t offset) {
    return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  }
  virtual int sync_data(int fd) { return ::fdatasync(fd); }
  virtual int sync(int fd) { return ::fsync(fd); }
  virtual int rename(int folder, const char* from, const char* to) {
    return ::renameat(folder, from, folder, to);
  }
};

// The calls themselves.  Has no state, so all threads may use it.
FileCalls& system_calls();

// FileError::from_errno() of a file or folder in, or below, node.state_dir.
FileError state_error(std::string path, const std::string& failure, int error);

// This process may not make the folder, or not use it, and that does not pass by itself.
class FolderRefused : public FileError {
 public:
  explicit FolderRefused(const FileError& error) : FileError(error) {}
};

// Who can write to a folder, and put older copies of the state there, beside root and the user
// `self`, as a phrase ("belongs to user 7"); empty when nobody can who was not meant to.  A group
// that writes to a folder with the setgid bit is meant to: so Kubernetes gives a volume to a pod's
// fsGroup.
std::string who_else_may_write(mode_t mode, uid_t owner, uid_t self);

inline constexpr const char* kLockFile = "lock";

class LockedFolder {
 public:
  // Opens the folder, makes it where it is missing (also the folders above it; all 0700), and locks
  // it until this object goes or the process dies: an OFD lock on its file `lock`, which works on
  // local file systems.  Throws FileError, also when another process has the lock, and
  // FolderRefused.  `calls` must outlive this object.
  LockedFolder(std::filesystem::path path, FileCalls& calls);

  // Opens the file `name` with the given flags of open(2); nothing when it does not exist.  Throws
  // FileError when it cannot be opened or is not a regular file of this user.
  std::optional<FileDescriptor> open(const char* name, int flags) const;

  // The contents of a file, but of longer ones only limit + 1 bytes; nothing when it does not
  // exist.  Throws FileError.
  std::optional<std::string> read(const char* name, size_t limit) const;

  // Gives the file `name` new contents: whenever the machine stops, the file has the old ones or
  // the new ones, and after this call the new ones.  Throws FileError.
  void replace(const char* name, std::span<const uint8_t> contents) const;

  // Whether it is still to be found at its path; with its lock; and `file` in it at `name`.
  bool is_at_its_path() const;
  bool is_in_place() const;
  bool holds(const char* name, const FileDescriptor& file) const;
  // Whether it was deleted, or emptied: it has no name any more, or its lock is not in it, and it
  // keeps nobody out.  One that was only moved away still has its lock.
  bool is_deleted() const;

  // Who else may put files into it, as who_else_may_write() has it.
  std::string weakness() const;

  // The very file that is locked, on this machine since it started, as a hash: as long as the
  // lock is held, no other process has this number, not one that has locked a copy of the folder
  // either.  0: unknown, for there is no /proc.
  uint64_t home() const;

  // For messages: its own path, and that of a file in it.
  std::string path() const { return path_.string(); }
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

}  // namespace bellwether::io
