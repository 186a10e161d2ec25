// One attempt after the other; dial_backoff.hh says when.
#include "io/peers/dialler.hh"

#include <cerrno>
#include <system_error>
#include <utility>

#include "io/names/connect.hh"
#include "io/names/socket_options.hh"

namespace bellwether::io {

Dialler::Dialler(Loop& loop, const SocketAddress& address, const LinkLimits& limits, Owner& owner,
                 uint64_t seed)
    : loop_(loop),
      address_(address),
      limits_(limits),
      owner_(owner),
      backoff_(seed, limits.handshake),
      due_(loop, [this] { on_due(); }) {}

void Dialler::start() {
  if (state_ == State::kResting) dial();
}

void Dialler::start_after_link(Duration lifetime) {
  const Duration duration = backoff_.after_link(lifetime);
  if (duration > Duration::zero()) return wait(duration);
  // In this turn of the loop: the sooner it is known whether the peer's port refuses, the sooner
  // somebody takes over.
  stop();
  dial();
}

void Dialler::hurry() {
  if (state_ == State::kWaiting) due_.arm(Loop::now());
}

void Dialler::stop() {
  state_ = State::kResting;
  due_.arm(kNever);
  socket_.reset();
}

void Dialler::wait(Duration duration) {
  stop();
  state_ = State::kWaiting;
  due_.arm(Loop::now() + duration);
}

void Dialler::dial() {
  state_ = State::kConnecting;
  early_error_ = connect();
  due_.arm(Loop::now() + (early_error_ == 0 ? limits_.connect : Duration::zero()));
}

int Dialler::connect() {
  try {
    const auto family = static_cast<unsigned>(address_.family());
    socket_ = make_handle(loop_.uv(), this, uv_tcp_init_ex, family);
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  if (is_spare(descriptor_of(*socket_))) {
    socket_.reset();
    return EMFILE;
  }
  keep_network_errors(descriptor_of(*socket_), true);
  return -io::connect(*socket_, address_, [this](int status) { on_result(status); });
}

void Dialler::on_due() {
  if (state_ == State::kWaiting) {
    return owner_.is_needless(*this) ? start_after_rejection() : dial();
  }
  on_result(early_error_ != 0 ? -early_error_ : UV_ETIMEDOUT);
}

void Dialler::on_result(int status) {
  if (status != 0) {
    const bool is_refused = status == UV_ECONNREFUSED;
    const bool is_unreachable = is_refused && was_refused_by_network(descriptor_of(*socket_));
    wait(backoff_.after_failure());
    return owner_.on_attempt_failed(*this, is_unreachable ? EHOSTUNREACH : -status);
  }
  UvPtr<uv_tcp_t> socket = std::move(socket_);
  stop();
  const int fd = descriptor_of(*socket);
  keep_network_errors(fd, false);
  if (is_connected_to_itself(fd)) {
    abort_on_close(fd);
    return wait(backoff_.after_failure());
  }
  socket->data = nullptr;
  owner_.on_connected(*this, std::move(socket));
}

}  // namespace bellwether::io
