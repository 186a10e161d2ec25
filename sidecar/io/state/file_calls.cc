// The calls themselves.
#include "io/state/file_calls.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace bellwether {

int FileCalls::make_folder(const char* path, mode_t mode) { return ::mkdir(path, mode); }

int FileCalls::open(int folder, const char* name, int flags, mode_t mode) {
  return ::openat(folder, name, flags, mode);
}

ssize_t FileCalls::write(int fd, std::span<const uint8_t> bytes, uint64_t offset) {
  return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
}

int FileCalls::sync_data(int fd) { return ::fdatasync(fd); }

int FileCalls::sync(int fd) { return ::fsync(fd); }

int FileCalls::rename(int folder, const char* from, const char* to) {
  return ::renameat(folder, from, folder, to);
}

FileCalls& system_calls() {
  static FileCalls calls;
  return calls;
}

}  // namespace bellwether
