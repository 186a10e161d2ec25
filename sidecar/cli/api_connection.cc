// Sockets that do not block, and poll(2) before each call.
#include "cli/api_connection.hh"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace bellwether::cli {
namespace {

constexpr const char* kTooSlow = "nothing came in time";

std::string describe(int error) {
  std::string text = std::generic_category().message(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses look_up(const HostPort& host, std::string& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(host.host.c_str(), std::to_string(host.port).c_str(), &hints, &found);
  if (error != 0) why = ::gai_strerror(error);
  return Addresses(found);
}

// No descriptor, and why, when it cannot be connected.
FileDescriptor connect_to(int family, const sockaddr* address, socklen_t length, int interrupt_fd,
                          Deadline deadline, std::string& why) {
  FileDescriptor fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int error = 0;
  if (!fd.is_open() || ::connect(fd.get(), address, length) != 0) error = errno;
  if (error == EINPROGRESS) {
    if (!wait_for(fd.get(), POLLOUT, deadline, interrupt_fd)) {
      why = kTooSlow;
      return FileDescriptor();
    }
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0) return fd;
  why = describe(error);
  return FileDescriptor();
}

FileDescriptor connect_socket(const std::string& path, int interrupt_fd, Deadline deadline,
                              std::string& why) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    why = "the path is too long for a unix socket";
    return FileDescriptor();
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  return connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address,
                    interrupt_fd, deadline, why);
}

FileDescriptor connect_host(const HostPort& host, int interrupt_fd, Deadline deadline,
                            std::string& why) {
  const Addresses addresses = look_up(host, why);
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    FileDescriptor fd =
        connect_to(each->ai_family, each->ai_addr, each->ai_addrlen, interrupt_fd, deadline, why);
    if (fd.is_open()) return fd;
  }
  return FileDescriptor();
}

}  // namespace

bool wait_for(int fd, short poll_events, Deadline deadline, int interrupt_fd) {
  using std::chrono::milliseconds;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waited{pollfd{fd, poll_events, 0}, pollfd{interrupt_fd, POLLIN, 0}};
    const int timeout = static_cast<int>(std::max(left, milliseconds::zero()).count());
    const int ready = ::poll(waited.data(), waited.size(), timeout);
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot poll");
    }
    if (ready < 0) continue;
    if (waited[1].revents != 0) throw Interrupted();
    if (waited[0].revents != 0) return true;
    if (left <= milliseconds::zero()) return false;
  }
}

ApiConnection::ApiConnection(const ApiAddress& address, int interrupt_fd, Deadline deadline)
    : address_(address), interrupt_fd_(interrupt_fd) {
  std::string why;
  fd_ = address.socket.empty() ? connect_host(address.host, interrupt_fd, deadline, why)
                               : connect_socket(address.socket, interrupt_fd, deadline, why);
  if (!fd_.is_open()) fail(why);
}

void ApiConnection::send(std::string_view text, Deadline deadline) {
  while (!text.empty()) {
    if (!wait_for(fd_.get(), POLLOUT, deadline, interrupt_fd_)) fail(kTooSlow);
    const ssize_t count = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR && errno != EAGAIN) fail(describe(errno));
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
}

std::optional<std::string> ApiConnection::receive(Deadline deadline) {
  std::array<char, 16384> buffer{};
  while (wait_for(fd_.get(), POLLIN, deadline, interrupt_fd_)) {
    const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (count >= 0) return std::string(buffer.data(), static_cast<size_t>(count));
    if (errno != EINTR && errno != EAGAIN) fail(describe(errno));
  }
  return std::nullopt;
}

void ApiConnection::fail(const std::string& why) const {
  throw ApiError("no sidecar answers at " + address_.text() + ": " + why +
                 "; is `bellwether run` running?");
}

}  // namespace bellwether::cli
