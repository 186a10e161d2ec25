// Files as the system has them: open ones, what is in them, and why one cannot be used, in words
// for the operator.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace bellwether::io {

// What to open a file with where somebody else may have put a link, a pipe or a device.
inline constexpr int kCautiousOpen = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
// How to open a file that is only read: links are followed, and a pipe is refused, not waited for.
inline constexpr int kOpenToRead = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

// An open file that is closed when its owner goes.
class FileDescriptor {
 public:
  // Takes over `fd`; a negative one stands for no file.
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Gives it away, without closing it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Reads from where the file stands to its end, `limit` bytes at most.  False, and errno says why,
// when that fails.
bool read_to_end(const FileDescriptor& file, size_t limit, std::string& text);

// Whether a failed call may succeed at another try, though nobody has done anything about it: what
// is wrong with rights and names, or what a file system is not made for, stays wrong; disks get
// room again and come back.  `error` is an errno.
bool may_pass(int error);

// A file that the sidecar cannot do without cannot be used.
class FileError : public std::runtime_error {
 public:
  // what() is one line of all three: "/var/lib/bellwether/state: belongs to group ...; give ...".
  // `may_pass`: it may be over at another start, though nobody has done anything about it.
  FileError(std::string path, std::string flaw, std::string remedy, bool may_pass = false);

  // A system call failed with `error` (an errno); `failure` says what could not be done ("cannot be
  // opened").  The remedy follows from the error and `key`, which names the file in the
  // configuration; `otherwise` is it where the error alone says nothing.
  static FileError from_errno(std::string path, const std::string& failure, int error,
                              const std::string& key, const std::string& otherwise);

  const std::string& path() const { return parts_->path; }      // the file or folder in question
  const std::string& flaw() const { return parts_->flaw; }      // what is wrong with it
  const std::string& remedy() const { return parts_->remedy; }  // what the operator can do
  bool may_pass() const { return parts_->may_pass; }

 private:
  struct Parts {
    std::string path;
    std::string flaw;
    std::string remedy;
    bool may_pass = false;
  };
  // The copies of an exception share it, because copying one must not throw.
  std::shared_ptr<const Parts> parts_;
};

// What a look found at a file that others find by its path, flag or socket, and that is made again
// when somebody has taken it away.
struct FileLook {
  std::string loss{};  // what had happened to it, as in "was removed"; empty: it was in its place
  std::string flaw{};  // why it could not be made again, with a remedy; empty: it is there
  // Others may have the folder before mounted, and will not see what is made in the new one.
  bool is_folder_new = false;
};

// More than all members, strangers, clients and files at once.
inline constexpr uint64_t kEnoughOpenFiles = 4096;

// With fewer, libraries end the process without a word, or a sidecar without peers cannot listen.
inline constexpr uint64_t kFewestOpenFiles = 32;

// How many a process may open, connections among them, once it has raised its soft limit as far as
// raise_open_files() does.
uint64_t raised_open_files(uint64_t soft, uint64_t hard);

// Raises the soft limit to kEnoughOpenFiles, or as far as the hard one lets it; a higher one stays.
// Returns what then holds; throws std::runtime_error when that is below kFewestOpenFiles.
uint64_t raise_open_files();

// Whether `fd` is among the last that this process may open, which are for its own files: a
// connection that has got one is to be closed.  Once accept(2) finds none at all libuv gives a
// reserve away, and where a thread takes that before libuv has it back, its loop never ends (1.44).
bool is_spare(int fd);

}  // namespace bellwether::io
