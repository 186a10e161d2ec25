// Binding a unix socket where there may be an old one.
#include "io/loop/unix_socket.hh"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

#include "io/names/address_error.hh"

namespace bellwether {
namespace {

constexpr mode_t kMode = 0660;

[[noreturn]] void fail(const std::string& path, const std::string& failure, int error) {
  throw AddressError(error, std::generic_category(), "socket " + path + " " + failure);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX};
  if (path.size() >= sizeof(address.sun_path)) fail(path, "has too long a path", ENAMETOOLONG);
  std::copy(path.begin(), path.end(), static_cast<char*>(address.sun_path));
  return address;
}

FileDescriptor make_socket(const std::string& path) {
  FileDescriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) fail(path, "cannot be made", errno);
  return made;
}

// The kernel refuses to connect when the last process that listened here is gone.
void remove_if_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    fail(path, "cannot be looked at", errno);
  }
  if (!S_ISSOCK(status.st_mode)) fail(path, "is another kind of file", EEXIST);
  const FileDescriptor probe = make_socket(path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN) {
    fail(path, "is in use by another process", EADDRINUSE);
  }
  if (errno != ECONNREFUSED) fail(path, "cannot be replaced", errno);
  if (::unlink(path.c_str()) != 0) fail(path, "is left over and cannot be removed", errno);
}

}  // namespace

UnixSocketFile::UnixSocketFile(const std::string& path) : path_(path) {
  const sockaddr_un address = address_of(path);
  remove_if_stale(path, address);
  socket_ = make_socket(path);
  // The mode of the socket bounds that of the file, which so never is wider than it shall be; the
  // umask may have made it narrower.
  ::fchmod(socket_.get(), kMode);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail(path, "cannot be made", errno);
  }
  if (::chmod(path.c_str(), kMode) != 0 || ::lstat(path.c_str(), &identity_) != 0) {
    fail(path, "cannot be given its mode", errno);
  }
}

UnixSocketFile::~UnixSocketFile() {
  if (loss().empty()) ::unlink(path_.c_str());
}

std::string UnixSocketFile::loss() const {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) {
    return errno == ENOENT ? "was removed"
                           : "cannot be found: " + std::generic_category().message(errno);
  }
  const bool is_ours = status.st_dev == identity_.st_dev && status.st_ino == identity_.st_ino;
  return is_ours ? "" : "was replaced by another file";
}

}  // namespace bellwether
