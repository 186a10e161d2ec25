// The two ways to listen: over TCP (from a place to addresses, and from an address to a socket that
// is bound to it), and on a unix socket in the file system, made with care for what is there and
// removed at the end.
#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/host_port.hh"
#include "io/loop/files.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io {

// An address or socket that cannot be listened on; what() names it, and a remedy.  The program ends
// with a code of its own then.
class AddressError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Does what `listen` does, and has an AddressError name the key of the configuration that says
// where to listen.
template <typename Listen>
auto listen_by_key(const std::string& key, Listen listen) {
  try {
    return listen();
  } catch (const AddressError& error) {
    throw AddressError(key + ": " + error.what());
  }
}

// What `place` stands for: a numeric address ("::" is every address of this host, 0.0.0.0 where the
// kernel has no IPv6), or all that getaddrinfo(3) finds for a name now, which blocks.  Throws
// AddressError.
std::vector<SocketAddress> listening_addresses(const HostPort& place);

// A socket that is bound there, and takes IPv4, too, where that is "::".  When it fails, no file,
// and errno.
FileDescriptor bind_to(const SocketAddress& address);

// Throws AddressError, which names the place; `error` is an errno.
[[noreturn]] void fail_to_listen(const HostPort& place, int error, const std::string& detail = "");

// A file as it was when it was made.
struct MadeFile {
  std::string path;
  dev_t device = 0;
  ino_t number = 0;

  // Why those who connect to the path do not reach it, as in "was removed"; empty: they do.  Of any
  // thread, and blocks for as long as the disk does.
  std::string loss() const;
};

class UnixSocketFile {
 public:
  // Binds a socket of mode 0660 to `path`.  One that nobody listens on any more is replaced; one
  // that is in use, or another kind of file, is not.  Throws AddressError.
  explicit UnixSocketFile(const std::string& path);
  // Removes the file, unless another process has put its own there.
  ~UnixSocketFile();
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

  const MadeFile& file() const { return file_; }

  // The bound socket; the caller's from now on.
  int release() { return socket_.release(); }

 private:
  MadeFile file_;
  FileDescriptor socket_;
};

}  // namespace bellwether::io
