// Opens the socket, and paces what comes in.  A connection that is not accepted in libuv's callback
// is kept by libuv, which then waits with the next one until it is.
#include "io/peers/listener_socket.hh"

#include <netdb.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "base/check.hh"
#include "io/names/address_error.hh"
#include "io/names/every_address.hh"
#include "io/names/socket_options.hh"

namespace bellwether {
namespace {

constexpr int kAcceptsPerTurn = 16;
// The kernel lowers it to net.core.somaxconn.
constexpr int kBacklog = 4096;

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

[[noreturn]] void fail(const HostPort& place, int error, const std::string& detail = "") {
  const std::string what = "cannot listen on " + place.text();
  throw AddressError(error, std::generic_category(), detail.empty() ? what : what + ": " + detail);
}

Addresses look_up(const HostPort& place) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status =
      ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (status != 0) {
    fail(place, status == EAI_SYSTEM ? errno : EADDRNOTAVAIL, ::gai_strerror(status));
  }
  return Addresses(found);
}

// A bound socket; -1 and errno when that failed.
FileDescriptor bind_to(const addrinfo& address) {
  FileDescriptor fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fd;
  const int on = 1;
  const int off = 0;
  // Connections of an earlier life may still be in TIME_WAIT.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return fd;
  const int error = errno;
  fd = FileDescriptor();
  errno = error;
  return fd;
}

FileDescriptor bind_to(const HostPort& place) {
  const Addresses addresses = look_up(place);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    FileDescriptor fd = bind_to(*address);
    if (fd.is_open()) return fd;
    error = errno;
  }
  fail(place, error);
}

}  // namespace

ListenerSocket::ListenerSocket(Loop& loop, const HostPort& place, OnConnection on_connection)
    : on_connection_(std::move(on_connection)),
      pause_(loop,
             [this] {
               accepted_ = 0;
               accept_one();
             }),
      handle_(make_handle<uv_tcp_t>(
          this, [&](uv_tcp_t* handle) { return uv_tcp_init(loop.uv(), handle); })) {
  FileDescriptor fd = move_to_high_descriptor(bind_to(listening_place(place)));
  if (const int status = uv_tcp_open(handle_.get(), fd.get()); status != 0) fail(place, -status);
  fd.release();  // it is the handle's now
  const int status = uv_listen(reinterpret_cast<uv_stream_t*>(handle_.get()), kBacklog,
                               [](uv_stream_t* handle, int error) {
                                 // An error means that a connection came to nothing, or that libuv,
                                 // out of descriptors, has turned away all that waited.  Their
                                 // peers try again.
                                 if (handle->data != nullptr && error == 0) {
                                   static_cast<ListenerSocket*>(handle->data)->on_waiting();
                                 }
                               });
  if (status != 0) fail(place, -status);
}

SocketAddress ListenerSocket::address() const {
  sockaddr_storage address{};
  int size = sizeof address;
  uv_tcp_getsockname(handle_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const auto found = SocketAddress::from(reinterpret_cast<const sockaddr&>(address));
  check(found.has_value(), "a socket that listens has an address");
  return *found;
}

void ListenerSocket::on_waiting() {
  if (accepted_ == kAcceptsPerTurn) return pause_.arm(Duration::zero());
  accept_one();
}

void ListenerSocket::accept_one() {
  ++accepted_;
  auto connection = std::make_unique<uv_tcp_t>();
  uv_tcp_init(handle_->loop, connection.get());
  connection->data = nullptr;
  UvPtr<uv_tcp_t> accepted(connection.release());
  const int status = uv_accept(reinterpret_cast<uv_stream_t*>(handle_.get()),
                               reinterpret_cast<uv_stream_t*>(accepted.get()));
  if (status != 0) return;
  on_connection_(std::move(accepted));
}

}  // namespace bellwether
