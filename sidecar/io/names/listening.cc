// getaddrinfo(3) and bind(2).  Whether there is IPv6 the kernel is asked by making a socket; that
// it is there but switched off makes no difference to [::], which then hears IPv4 alone.
#include "io/names/listening.hh"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/file_turn.hh"

namespace bellwether::io {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};

FileDescriptor make_tcp_socket(int family) {
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// What the user can do about an address that cannot be had.
const char* remedy(int error) {
  switch (error) {
    case EADDRINUSE:
      return "; stop the process that listens there, or give another address";
    case EADDRNOTAVAIL:
      return "; give an address of this host";
    case EACCES:
      return "; give a port above 1023";
    default:
      return "";
  }
}

bool has_ipv6() { return make_tcp_socket(AF_INET6).is_open() || errno != EAFNOSUPPORT; }

// --- unix sockets ---

constexpr mode_t kMode = 0660;

[[noreturn]] void fail(const std::string& path, const std::string& failure, int error) {
  throw AddressError("socket " + path + " " + failure + ": " +
                     std::generic_category().message(error));
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

std::vector<SocketAddress> listening_addresses(const HostPort& place) {
  const FileTurn turn(place.host, "look at what answers for names (/etc/resolv.conf, /etc/hosts)");
  const bool is_of_ipv6 = place.host.find(':') != std::string::npos;
  const bool is_replaced = place.is_wildcard() && is_of_ipv6 && !has_ipv6();
  const std::string host = is_replaced ? "0.0.0.0" : place.host;
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status =
      ::getaddrinfo(host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (status != 0) {
    fail_to_listen(place, status == EAI_SYSTEM ? errno : EADDRNOTAVAIL, ::gai_strerror(status));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> all(found);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (const auto address = SocketAddress::from(*each->ai_addr)) addresses.push_back(*address);
  }
  return addresses;
}

FileDescriptor bind_to(const SocketAddress& address) {
  FileDescriptor socket = make_tcp_socket(address.family());
  if (!socket.is_open()) return socket;
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.get(), level, option, &value, sizeof value);
  };
  // Connections of an earlier life may still be in TIME_WAIT.
  set(SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set(IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket.get(), address.get(), sizeof(sockaddr_in6)) == 0) return socket;
  const int error = errno;
  socket = FileDescriptor();
  errno = error;
  return socket;
}

void fail_to_listen(const HostPort& place, int error, const std::string& detail) {
  throw AddressError("cannot listen on " + place.text() + ": " +
                     (detail.empty() ? std::generic_category().message(error) : detail) +
                     remedy(error));
}

UnixSocketFile::UnixSocketFile(const std::string& path) : file_{.path = path} {
  const FileTurn turn(path);
  const sockaddr_un address = address_of(path);
  remove_if_stale(path, address);
  socket_ = make_socket(path);
  // The mode of the socket bounds that of the file, which so never is wider than it shall be; the
  // umask may have made it narrower.
  ::fchmod(socket_.get(), kMode);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail(path, "cannot be made", errno);
  }
  struct stat made {};
  if (::chmod(path.c_str(), kMode) != 0 || ::lstat(path.c_str(), &made) != 0) {
    fail(path, "cannot be given its mode", errno);
  }
  file_.device = made.st_dev;
  file_.number = made.st_ino;
}

UnixSocketFile::~UnixSocketFile() {
  if (file_.loss().empty()) ::unlink(file_.path.c_str());
}

std::string MadeFile::loss() const {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? "was removed"
                           : "cannot be found: " + std::generic_category().message(errno);
  }
  const bool is_ours = status.st_dev == device && status.st_ino == number;
  return is_ours ? "" : "was replaced by another file";
}

}  // namespace bellwether::io
