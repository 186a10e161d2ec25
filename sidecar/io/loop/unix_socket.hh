// A unix socket in the file system to listen on: made with care for what is there, removed at the
// end.
#pragma once

#include <sys/stat.h>

#include <string>

#include "io/loop/file_descriptor.hh"

namespace bellwether {

class UnixSocketFile {
 public:
  // Binds a socket of mode 0660 to `path`.  One that nobody listens on any more is replaced; one
  // that is in use, or another kind of file, is not.  Throws std::system_error whose text names the
  // path.
  explicit UnixSocketFile(const std::string& path);
  // Removes the file, unless another process has put its own there.
  ~UnixSocketFile();
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

  const std::string& path() const { return path_; }

  // Why those who connect to the path do not reach this socket, as in "was removed"; empty: they
  // do.
  std::string loss() const;

  // The bound socket; the caller's from now on.
  int release() { return socket_.release(); }

 private:
  std::string path_;
  FileDescriptor socket_;
  struct stat identity_ {};  // of the file that was made
};

}  // namespace bellwether
