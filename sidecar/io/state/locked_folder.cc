// Opening, locking, and replacing a file so that a crash never shows half of it.
#include "io/state/locked_folder.hh"

#include <bellwether/leader_flag.h>
#include <fmt/core.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/fnv1a.hh"

namespace bellwether::io {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kStateFolderMode = 0700;
constexpr mode_t kStateFileMode = 0600;

bool is_same(const struct stat& there, const FileDescriptor& file) {
  struct stat ours {};
  return ::fstat(file.get(), &ours) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino;
}

// Of the folder, or of its lock.  `error`: an errno.
[[noreturn]] void give_up(const fs::path& path, const char* failure, int error) {
  if (error == EACCES || error == EPERM || error == EROFS) {
    throw FolderRefused(state_error(path, failure, error));
  }
  throw state_error(path, failure, error);
}

}  // namespace

FileCalls& system_calls() {
  static FileCalls calls;
  return calls;
}

FileError state_error(std::string path, const std::string& failure, int error) {
  return FileError::from_errno(std::move(path), failure, error, "state_dir",
                               "check the disk, or set state_dir to a folder on another one");
}

std::string who_else_may_write(mode_t mode, uid_t owner, uid_t self) {
  if (owner != self && owner != 0) return "belongs to user " + std::to_string(owner);
  if ((mode & S_IWOTH) != 0) return "can be written by everybody";
  if ((mode & S_IWGRP) != 0 && (mode & S_ISGID) == 0) return "can be written by its group";
  return "";
}

LockedFolder::LockedFolder(fs::path path, FileCalls& calls)
    : path_(std::move(path)), calls_(calls) {
  make();
  folder_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_.is_open()) {
    const int error = errno;
    std::error_code unused;
    const bool is_link_to_nothing = error == ENOENT && fs::is_symlink(path_, unused);
    if (is_link_to_nothing) throw FolderRefused(state_error(path_, "is a link to nothing", error));
    give_up(path_, "cannot be opened", error);
  }
  lock();
}

std::optional<FileDescriptor> LockedFolder::open(const char* name, int flags) const {
  const int fd = calls_.open(folder_.get(), name, flags | kCautiousOpen, kStateFileMode);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  return checked(fd, name);
}

std::optional<std::string> LockedFolder::read(const char* name, size_t limit) const {
  const std::optional<FileDescriptor> file = open(name, O_RDONLY);
  if (!file) return std::nullopt;
  std::string contents;
  if (!read_to_end(*file, limit + 1, contents)) {
    throw state_error(path_of(name), "cannot be read", errno);
  }
  return contents;
}

void LockedFolder::replace(const char* name, std::span<const uint8_t> contents) const {
  const std::string draft = std::string(name) + ".new";
  const auto fail = [&](const char* failure) {
    throw state_error(path_of(draft.c_str()), failure, errno);
  };
  // The lock is ours, so a draft that is there is what a crash has left.
  const FileDescriptor file =
      checked(calls_.open(folder_.get(), draft.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | kCautiousOpen, kStateFileMode),
              draft.c_str());
  for (size_t done = 0; done < contents.size();) {
    const ssize_t count = calls_.write(file.get(), contents.subspan(done), done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot be written");
    done += static_cast<size_t>(count);
  }
  if (calls_.sync(file.get()) != 0) fail("cannot be written to the disk");
  if (calls_.rename(folder_.get(), draft.c_str(), name) != 0) fail("cannot be renamed");
  if (calls_.sync(folder_.get()) != 0) {
    throw state_error(path_, "cannot be written to the disk", errno);
  }
}

bool LockedFolder::is_in_place() const { return is_at_its_path() && holds(kLockFile, lock_); }

bool LockedFolder::is_at_its_path() const {
  struct stat there {};
  return ::stat(path_.c_str(), &there) == 0 && is_same(there, folder_);
}

bool LockedFolder::holds(const char* name, const FileDescriptor& file) const {
  struct stat there {};
  return ::fstatat(folder_.get(), name, &there, AT_SYMLINK_NOFOLLOW) == 0 && is_same(there, file);
}

bool LockedFolder::is_deleted() const {
  struct stat folder {};
  if (::fstat(folder_.get(), &folder) != 0) return false;
  if (folder.st_nlink == 0) return true;
  struct stat there {};
  if (::fstatat(folder_.get(), kLockFile, &there, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT;
  }
  return !is_same(there, lock_);
}

std::string LockedFolder::weakness() const {
  struct stat status {};
  if (::fstat(folder_.get(), &status) != 0) return "";
  return who_else_may_write(status.st_mode, status.st_uid, ::geteuid());
}

uint64_t LockedFolder::home() const {
  uint64_t machine = 0;
  struct stat file {};
  if (leader_flag_boot_id_hash(&machine) != 0 || ::fstat(lock_.get(), &file) != 0) return 0;
  return fnv1a(fmt::format("{} {} {}", machine, file.st_dev, file.st_ino));
}

void LockedFolder::make() const {
  std::error_code unused;
  if (fs::is_directory(path_, unused)) return;
  fs::path made;
  for (const fs::path& part : fs::absolute(path_).lexically_normal()) {
    const fs::path parent = made;
    made /= part;
    if (part.empty() || fs::is_directory(made, unused)) continue;
    if (calls_.make_folder(made.c_str(), kStateFolderMode) == 0) {
      sync(parent);
    } else if (errno != EEXIST) {
      give_up(made, "cannot be created", errno);
    }
  }
}

// Whoever may not open the folder cannot do more for the new entry than hope.
void LockedFolder::sync(const fs::path& folder) const {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.is_open() && calls_.sync(file.get()) != 0) {
    throw state_error(folder, "cannot be written to the disk", errno);
  }
}

void LockedFolder::lock() {
  const std::string path = path_of(kLockFile);
  const int fd =
      calls_.open(folder_.get(), kLockFile, O_RDWR | O_CREAT | kCautiousOpen, kStateFileMode);
  if (fd < 0) give_up(path, "cannot be opened", errno);
  lock_ = checked(fd, kLockFile);
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (::fcntl(lock_.get(), F_OFD_SETLK, &whole_file) == 0) return;
  if (errno == EAGAIN || errno == EACCES) {
    throw FileError(path, "is locked by another process, which uses this folder",
                    "stop that process, or give each of the two a state_dir of its own", true);
  }
  throw FileError(path, "cannot be locked: " + std::generic_category().message(errno),
                  "set state_dir to a folder on a local file system", may_pass(errno));
}

// `fd` is what opening `name` gave.
FileDescriptor LockedFolder::checked(int fd, const char* name) const {
  const int error = errno;
  FileDescriptor file(fd);
  if (!file.is_open()) throw state_error(path_of(name), "cannot be opened", error);
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    throw state_error(path_of(name), "cannot be examined", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw FileError(path_of(name), "is not a regular file",
                    "set state_dir to a folder that nobody else uses");
  }
  if (status.st_uid != ::geteuid()) {
    const std::string owner = std::to_string(status.st_uid);
    const std::string self = std::to_string(::geteuid());
    throw FileError(path_of(name), "belongs to user " + owner + ", this process to user " + self,
                    "run as user " + owner + ", or give the folder and its files to user " + self);
  }
  return file;
}

}  // namespace bellwether::io
