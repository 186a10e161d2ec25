// Finding, making, checking and locking the file behind the flag; every refusal has its remedy.
#include "io/flag/flag_file.hh"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <span>
#include <system_error>

#include "base/file_turn.hh"
#include "io/flag/flag_folder.hh"

namespace bellwether::io {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kNewFileMode = 0600;
constexpr mode_t kPermissions = 07777;
constexpr mode_t kOthersEnter = 0011;

// How often a file may vanish or appear between two looks at it.
constexpr int kOpenTries = 3;

[[noreturn]] void fail(const fs::path& path, const std::string& failure, int error) {
  throw FileError::from_errno(path, failure, error, "flag.path",
                              "set flag.path to a file on a tmpfs");
}

// The folder itself, so that nobody can put another one in its place between a look at it and the
// next; nothing, and errno says why, when it cannot be opened.
FileDescriptor open_folder(const fs::path& path) {
  return FileDescriptor(
      ::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_link(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

FileDescriptor open_or_make_folder(const FlagFileSettings& settings, struct stat& status) {
  const fs::path& path = settings.path;
  // Whatever is wrong with it, opening it will tell.
  const bool is_new = ::mkdir(path.parent_path().c_str(), kFolderMode) == 0;
  FileDescriptor folder = open_folder(path);
  if (!folder.is_open() && is_link(path.parent_path())) {
    throw FileError(path, "its folder is a symbolic link", "set flag.path to where that leads");
  }
  if (!folder.is_open()) fail(path, "cannot be opened", errno);
  // Whatever the umask is: applications of other users have to get in.
  if (is_new) ::chmod(fmt::format("/proc/self/fd/{}", folder.get()).c_str(), kFolderMode);
  if (::fstat(folder.get(), &status) != 0) fail(path, "its folder cannot be examined", errno);
  const std::string flaw = flag_folder_flaw(status, ::geteuid(), settings.is_folder_shared);
  if (!flaw.empty()) throw FileError(path, flaw, kFlagFolderRemedy);
  return folder;
}

FileDescriptor open_or_make(const FlagFileSettings& settings, struct stat& folder_status) {
  const fs::path& path = settings.path;
  const FileTurn turn(path.string());
  const FileDescriptor folder = open_or_make_folder(settings, folder_status);
  const fs::path name = path.filename();
  int fd = -1;
  for (int tries = 0; fd < 0 && tries < kOpenTries; ++tries) {
    fd = ::openat(folder.get(), name.c_str(), O_RDWR | kCautiousOpen);
    if (fd >= 0 || errno != ENOENT) break;
    fd = ::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | kCautiousOpen,
                  kNewFileMode);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd >= 0) return FileDescriptor(fd);
  if (errno == ELOOP) {
    throw FileError(path, "is a symbolic link", "remove it, or set flag.path to the file itself");
  }
  if (errno == EISDIR) {
    throw FileError(path, "is a folder", "set flag.path to a file in it");
  }
  fail(path, "cannot be opened", errno);
}

mode_t mode_of(int fd, const fs::path& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail(path, "cannot be examined", errno);
  return status.st_mode & kPermissions;
}

// An empty file is one whose maker died before it came further.
void check_kind(int fd, const fs::path& path) {
  constexpr const char* kRemedy = "remove it, or set flag.path to another file";
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) throw FileError(path, "is not a regular file", kRemedy);
  if (status.st_uid != ::geteuid()) {
    throw FileError(
        path,
        fmt::format("belongs to user {}, this process to user {}", status.st_uid, ::geteuid()),
        kRemedy);
  }
  if (status.st_nlink != 1) {
    throw FileError(path, fmt::format("has {} names (hard links), not one", status.st_nlink),
                    kRemedy);
  }
  if (status.st_size != 0 && status.st_size != LEADER_FLAG_FILE_BYTES) {
    throw FileError(path, fmt::format("has {} bytes, which no leader flag has", status.st_size),
                    kRemedy);
  }
}

// The thread that the line names as its owner, for a message; it may be one of another namespace.
std::string owner_of(int fd) {
  uint32_t owner = 0;
  const ssize_t count = ::pread(fd, &owner, sizeof owner, offsetof(leader_flag_line, owner));
  if (count != sizeof owner || owner == 0 || (owner & LEADER_FLAG_OWNER_DIED) != 0) return "";
  return fmt::format(" (thread {})", owner);
}

void lock(int fd, const fs::path& path) {
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (::fcntl(fd, F_OFD_SETLK, &whole_file) == 0) return;
  if (errno == EAGAIN || errno == EACCES) {
    throw FileError(path, "is in use by another process" + owner_of(fd),
                    "stop that sidecar, or give each of the two a flag.path of its own", true);
  }
  fail(path, "cannot be locked", errno);
}

// Opened once more, so that what is mapped is not what is locked: a killed process's memory may
// outlast its files (memory_keeper.hh), and its successor needs the lock.
FileDescriptor open_again(int fd, const fs::path& path) {
  const std::string name = fmt::format("/proc/self/fd/{}", fd);
  FileDescriptor file(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) {
    throw FileError(path,
                    fmt::format("cannot be opened a second time, through {}: {}", name,
                                std::generic_category().message(errno)),
                    "mount /proc", errno != ENOENT && may_pass(errno));
  }
  return file;
}

void allocate(int fd, const fs::path& path) {
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(fd, 0, LEADER_FLAG_FILE_BYTES);
  if (error != 0) fail(path, "cannot get its space", error);
}

// Written by this version, or not at all.
void check_contents(int fd, const fs::path& path) {
  std::array<uint8_t, sizeof(leader_flag_line)> line{};
  const ssize_t count = ::pread(fd, line.data(), line.size(), 0);
  if (count != static_cast<ssize_t>(line.size())) {
    fail(path, "cannot be read", count < 0 ? errno : EIO);
  }
  const uint8_t abi = line[offsetof(leader_flag_line, abi)];
  const bool is_new = std::ranges::all_of(line, [](uint8_t byte) { return byte == 0; });
  if (abi == LEADER_FLAG_ABI || is_new) return;
  throw FileError(path, "is not a leader flag, or one of another release",
                  "remove it and restart the applications that read it, or set flag.path to "
                  "another file");
}

}  // namespace

FlagFile::FlagFile(const FlagFileSettings& settings)
    : settings_(settings), file_(open_or_make(settings, folder_)) {
  const fs::path& path = settings.path;
  const int fd = file_.get();
  check_kind(fd, path);
  lock(fd, path);
  const FileDescriptor view = open_again(fd, path);
  if (::fchmod(fd, settings.mode) != 0) fail(path, "cannot get its mode", errno);
  settings_.mode = mode_of(fd, path);  // as far as the file system keeps modes
  allocate(fd, path);
  check_contents(fd, path);
  void* const mapping =
      ::mmap(nullptr, LEADER_FLAG_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, view.get(), 0);
  if (mapping == MAP_FAILED) fail(path, "cannot be mapped", errno);
  page_ = static_cast<FlagPage*>(mapping);
  rescue_.emplace(page_, LEADER_FLAG_FILE_BYTES);
  lock_flaw_ = ::mlock(page_, LEADER_FLAG_FILE_BYTES) == 0 ? 0 : errno;
}

FlagFile::~FlagFile() {
  rescue_.reset();
  ::munmap(page_, LEADER_FLAG_FILE_BYTES);
}

bool FlagFile::is_in_memory() const {
  struct statfs status {};
  return ::fstatfs(file_.get(), &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

std::string FlagFile::loss() const {
  const FileDescriptor folder = open_folder(settings_.path);
  struct stat there {};
  if (!folder.is_open() || ::fstatat(folder.get(), settings_.path.filename().c_str(), &there,
                                     AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? "was removed"
                           : "cannot be found: " + std::generic_category().message(errno);
  }
  struct stat ours {};
  if (::fstat(file_.get(), &ours) != 0) fail(settings_.path, "cannot be examined", errno);
  const bool is_ours = there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
  return is_ours ? "" : "was replaced by another file";
}

// Read from the file: the page may be another one by now.
std::string FlagFile::damage(const FlagPage& expected) const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(settings_.path, "cannot be examined", errno);
  if (status.st_uid != ::geteuid()) return "was given to user " + std::to_string(status.st_uid);
  if (status.st_size > LEADER_FLAG_FILE_BYTES) return "was made longer";
  if (status.st_size < LEADER_FLAG_FILE_BYTES || rescue_->is_lost()) return "was cut short";
  std::array<std::byte, sizeof(FlagPage)> bytes{};
  if (::pread(file_.get(), bytes.data(), bytes.size(), 0) != std::ssize(bytes)) {
    return "cannot be read";
  }
  const auto wanted = std::as_bytes(std::span(&expected, 1));
  return std::ranges::equal(bytes, wanted) ? "" : "was written over";
}

std::string FlagFile::restore_mode() const {
  const mode_t mode = mode_of(file_.get(), settings_.path);
  if (mode == settings_.mode) return "";
  if (::fchmod(file_.get(), settings_.mode) != 0)
    fail(settings_.path, "cannot get its mode", errno);
  return "had its mode changed to " + mode_text(mode);
}

std::string FlagFile::folder_flaw() const {
  const auto error = [this](const std::string& flaw, const char* remedy) {
    return std::string(FileError(settings_.path, flaw, remedy).what());
  };
  const FileDescriptor folder = open_folder(settings_.path);
  struct stat status {};
  if (::fstat(folder.get(), &status) != 0) return "";  // it has gone just now
  const std::string flaw = flag_folder_flaw(status, ::geteuid(), settings_.is_folder_shared);
  if (!flaw.empty()) return error(flaw, "give it back its owner and mode");
  if ((folder_.st_mode & ~status.st_mode & kOthersEnter) == 0) return "";
  return error("its folder was closed to others (mode " + mode_text(status.st_mode) + ")",
               "open it again (chmod), or restart the sidecar if only its own user is to enter");
}

void FlagFile::remove() const {
  const FileDescriptor folder = open_folder(settings_.path);
  if (!folder.is_open() || ::unlinkat(folder.get(), settings_.path.filename().c_str(), 0) != 0) {
    fail(settings_.path, "cannot be removed", errno);
  }
}

}  // namespace bellwether::io
