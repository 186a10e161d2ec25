// Reading stops at nothing but the end: the core is faster than any peer may write.  Writing tries
// the kernel first; what it does not take waits in queue_, behind one write that libuv has.
#include "io/peers/peer_connection.hh"

#include <utility>

#include "io/names/socket_options.hh"

namespace bellwether {
namespace {

uv_stream_t* stream(const UvPtr<uv_tcp_t>& socket) {
  return reinterpret_cast<uv_stream_t*>(socket.get());
}

uv_buf_t buffer_of(std::span<const uint8_t> bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): libuv has one type to read and to write
  auto* start = const_cast<uint8_t*>(bytes.data());
  return uv_buf_init(reinterpret_cast<char*>(start), static_cast<unsigned>(bytes.size()));
}

}  // namespace

PeerConnection::PeerConnection(Loop& loop, UvPtr<uv_tcp_t> socket, const std::string& group,
                               const LinkLimits& limits, Owner& owner, std::span<char> read_buffer,
                               std::optional<SocketAddress> dialled)
    : owner_(owner),
      read_buffer_(read_buffer),
      dialled_(std::move(dialled)),
      ends_(ends_of(descriptor_of(*socket))),
      decoder_(group),
      write_(std::make_unique<Write>()),
      handshake_(loop, [this] { owner_.on_silence(*this); }),
      socket_(std::move(socket)) {
  socket_->data = this;
  prepare_peer_socket(descriptor_of(*socket_));
  set_patience(limits.unacknowledged);
  handshake_.arm(Loop::now() + limits.handshake);
  start_reading();
}

PeerConnection::~PeerConnection() {
  // The callback of the write frees it.
  if (is_writing_) static_cast<void>(write_.release());
}

void PeerConnection::become_link(PeerIdentity peer, Instant now) {
  peer_ = std::move(peer);
  link_since_ = now;
  handshake_.arm(kNever);
}

void PeerConnection::set_patience(Duration unacknowledged) {
  if (is_open()) set_user_timeout(descriptor_of(*socket_), unacknowledged);
}

size_t PeerConnection::unsent_bytes() const {
  if (!is_open()) return 0;
  return uv_stream_get_write_queue_size(stream(socket_)) + queue_.size();
}

bool PeerConnection::write(std::span<const uint8_t> bytes) {
  if (!is_open() || is_finishing_ || write_error_ != 0) return false;
  if (!is_writing_) {
    const uv_buf_t buffer = buffer_of(bytes);
    const int written = uv_try_write(stream(socket_), &buffer, 1);
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (written != UV_EAGAIN) {
      // The reading side ends the connection; it may not learn the reason, which is used up here.
      write_error_ = written;
      return false;
    }
  }
  if (bytes.empty()) return true;
  queue_.insert(queue_.end(), bytes.begin(), bytes.end());
  if (!is_writing_) start_write();
  return true;
}

void PeerConnection::finish() {
  if (!is_open() || is_finishing_) return;
  is_finishing_ = true;
  if (!is_writing_) shut_down();
}

void PeerConnection::start_reading() {
  const int status = uv_read_start(
      stream(socket_),
      [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
        const std::span<char> room = static_cast<PeerConnection*>(handle->data)->read_buffer_;
        *buffer = uv_buf_init(room.data(), static_cast<unsigned>(room.size()));
      },
      [](uv_stream_t* handle, ssize_t count, const uv_buf_t* buffer) {
        void* connection = handle->data;
        if (connection != nullptr) {
          static_cast<PeerConnection*>(connection)->on_read(count, buffer->base);
        }
      });
  // Of a socket that is connected it cannot fail; if it does, the handshake takes too long.
  static_cast<void>(status);
}

void PeerConnection::on_read(ssize_t count, const char* bytes) {
  if (count < 0) {
    const int reason = write_error_ != 0 ? write_error_ : static_cast<int>(count);
    // The peer has ended it, so ours goes by RST, which nobody hears any more.  After a FIN the
    // peer's kernel would keep the pair of ports for a minute (TIME_WAIT), and a try to connect
    // that is given the same port again would be refused 8 ms late.
    if (count == UV_EOF) abort_on_close(descriptor_of(*socket_));
    close();
    return owner_.on_end(*this, reason == UV_EOF ? 0 : -reason);
  }
  if (is_finishing_) return;
  take_in({reinterpret_cast<const uint8_t*>(bytes), static_cast<size_t>(count)});
}

void PeerConnection::take_in(std::span<const uint8_t> bytes) {
  while (is_open() && !is_finishing_) {
    const size_t before = bytes.size();
    Decoded found = decoder_.next(bytes);
    frame_bytes_ += before - bytes.size();
    while (skipped_ < decoder_.skipped() && is_open()) {
      ++skipped_;
      owner_.on_skipped(*this);
    }
    if (std::holds_alternative<MoreNeeded>(found) || !is_open()) return;
    pass_on(std::move(found));
  }
}

void PeerConnection::pass_on(Decoded found) {
  const size_t bytes = std::exchange(frame_bytes_, 0);
  if (auto* frame = std::get_if<Frame>(&found)) {
    owner_.on_frame(*this, std::move(*frame), bytes);
  } else if (const auto* greeting = std::get_if<Greeting>(&found)) {
    owner_.on_greeting(*this, *greeting);
  } else if (const auto* words = std::get_if<TurnedAway>(&found)) {
    owner_.on_turned_away(*this, *words);
  } else if (const auto* error = std::get_if<FrameError>(&found)) {
    owner_.on_flaw(*this, *error);
    close();  // a second error would be the same
  }
}

void PeerConnection::start_write() {
  write_->bytes.swap(queue_);
  queue_.clear();
  const uv_buf_t buffer = buffer_of(write_->bytes);
  write_->request.data = write_.get();
  const int status =
      uv_write(&write_->request, stream(socket_), &buffer, 1, [](uv_write_t* request, int result) {
        void* connection = request->handle->data;
        if (connection != nullptr) {
          static_cast<PeerConnection*>(connection)->on_written(result);
        } else {
          delete static_cast<Write*>(request->data);
        }
      });
  is_writing_ = status == 0;
  if (status != 0) write_error_ = status;
}

void PeerConnection::on_written(int status) {
  is_writing_ = false;
  if (status != 0) {
    write_error_ = status;
  } else if (!queue_.empty()) {
    start_write();
  } else if (is_finishing_) {
    shut_down();
  }
}

void PeerConnection::shut_down() {
  auto request = std::make_unique<uv_shutdown_t>();
  const int status =
      uv_shutdown(request.get(), stream(socket_), [](uv_shutdown_t* ended, int) { delete ended; });
  if (status == 0) static_cast<void>(request.release());
}

}  // namespace bellwether
