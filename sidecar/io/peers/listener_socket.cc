// Opens the socket, and paces what comes in.  A connection that is not accepted in libuv's callback
// is kept by libuv, which then waits with the next one until it is.
#include "io/peers/listener_socket.hh"

#include <cerrno>
#include <utility>

#include "base/check.hh"
#include "io/names/listening.hh"
#include "io/names/socket_options.hh"

namespace bellwether::io {
namespace {

constexpr int kAcceptsPerTurn = 16;
// The kernel lowers it to net.core.somaxconn.
constexpr int kBacklog = 4096;

// The first of its addresses that can be had.
FileDescriptor bind_first(const HostPort& place) {
  int error = EADDRNOTAVAIL;
  for (const SocketAddress& address : listening_addresses(place)) {
    FileDescriptor fd = bind_to(address);
    if (fd.is_open()) return fd;
    error = errno;
  }
  fail_to_listen(place, error);
}

}  // namespace

ListenerSocket::ListenerSocket(Loop& loop, const HostPort& place, OnConnection on_connection)
    : on_connection_(std::move(on_connection)),
      pause_(loop,
             [this] {
               accepted_ = 0;
               accept_one();
             }),
      handle_(make_handle(loop.uv(), this, uv_tcp_init)) {
  FileDescriptor fd = move_to_high_descriptor(bind_first(place));
  if (const int status = uv_tcp_open(handle_.get(), fd.get()); status != 0)
    fail_to_listen(place, -status);
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
  if (status != 0) fail_to_listen(place, -status);
}

SocketAddress ListenerSocket::address() const {
  const auto found = SocketAddress::local_of(descriptor_of(*handle_));
  check(found.has_value(), "a socket that listens has an address");
  return *found;
}

void ListenerSocket::on_waiting() {
  if (accepted_ == kAcceptsPerTurn) return pause_.arm(Duration::zero());
  accept_one();
}

void ListenerSocket::accept_one() {
  ++accepted_;
  UvPtr<uv_tcp_t> accepted = make_handle(handle_->loop, nullptr, uv_tcp_init);
  const int status = uv_accept(reinterpret_cast<uv_stream_t*>(handle_.get()),
                               reinterpret_cast<uv_stream_t*>(accepted.get()));
  if (status != 0) return;
  on_connection_(std::move(accepted));
}

}  // namespace bellwether::io
