// The system calls that change what a disk holds, in one place, so that a test can let each of them
// fail, or let the process die between any two of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace bellwether {

// Each is the system call its comment names: negative on failure, and errno says why.
class FileCalls {
 public:
  virtual ~FileCalls() = default;

  virtual int make_folder(const char* path, mode_t mode);                          // mkdir
  virtual int open(int folder, const char* name, int flags, mode_t mode);          // openat
  virtual ssize_t write(int fd, std::span<const uint8_t> bytes, uint64_t offset);  // pwrite
  virtual int sync_data(int fd);                                                   // fdatasync
  virtual int sync(int fd);                                                        // fsync
  virtual int rename(int folder, const char* from, const char* to);                // renameat
};

// The calls themselves.  Has no state, so all threads may use it.
FileCalls& system_calls();

}  // namespace bellwether
