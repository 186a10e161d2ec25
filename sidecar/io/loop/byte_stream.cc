// Reading and writing through libuv.  Requests of libuv lie on the heap and free themselves, for
// they end after the stream they belong to has been closed.
#include "io/loop/byte_stream.hh"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hh"

namespace bellwether::io {
namespace {

// What a record of TLS holds at most.
constexpr size_t kMaxRecordBytes = size_t{16} * 1024;

ByteStream* owner_of(uv_stream_t* stream) { return static_cast<ByteStream*>(stream->data); }

}  // namespace

struct ByteStream::Write {
  uv_write_t request{};
  std::string bytes;
};

ByteStream::ByteStream(Owner& owner, Handle handle, std::span<char> buffer)
    : owner_(owner), buffer_(buffer), stream_(stream_of(handle)), handle_(std::move(handle)) {
  stream_->data = this;
}

uv_stream_t* ByteStream::stream_of(const Handle& handle) {
  return std::visit([](const auto& socket) { return reinterpret_cast<uv_stream_t*>(socket.get()); },
                    handle);
}

void ByteStream::secure(std::unique_ptr<TlsSession> session, std::string_view received) {
  check(tls_ == nullptr && !is_finishing_, "a stream is secured once, before it is used");
  tls_ = std::move(session);
  if (received.empty()) {
    tls_->begin();
    send_tls();
  } else {
    receive(received);
  }
}

void ByteStream::start_reading() {
  if (stream_ == nullptr || is_reading_ || is_held()) return;
  is_reading_ = true;
  uv_read_start(
      stream_,
      [](uv_handle_t* handle, size_t /*wanted*/, uv_buf_t* buffer) {
        const auto* self = static_cast<ByteStream*>(handle->data);
        *buffer = uv_buf_init(self->buffer_.data(), static_cast<unsigned>(self->buffer_.size()));
      },
      [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
        ByteStream* self = owner_of(stream);
        if (count > 0) {
          self->receive({buffer->base, static_cast<size_t>(count)});
        } else if (count < 0) {
          self->stop_reading();
          const int status = self->write_error_ != 0 ? self->write_error_ : static_cast<int>(count);
          self->owner_.on_end(status);
        }
      });
}

void ByteStream::stop_reading() {
  if (stream_ == nullptr || !is_reading_) return;
  is_reading_ = false;
  uv_read_stop(stream_);
}

// What comes of the bytes may close the stream.
void ByteStream::receive(std::string_view bytes) {
  if (tls_ == nullptr) return owner_.on_bytes(bytes);
  if (!is_held() && owner_.has_time_for_tls()) return receive_tls(bytes);
  held_ += bytes;
  stop_reading();
}

void ByteStream::go_on() {
  if (stream_ == nullptr || !is_held()) return;
  const std::string bytes = std::exchange(held_, "");
  start_reading();
  receive(bytes);
}

void ByteStream::receive_tls(std::string_view bytes) {
  std::array<char, kMaxRecordBytes> plaintext;  // NOLINT(*-member-init): read() fills it
  tls_->receive(bytes);
  while (stream_ != nullptr) {
    const size_t count = read_tls(plaintext);
    send_tls();
    if (count == 0) break;
    owner_.on_bytes({plaintext.data(), count});
    OPENSSL_cleanse(plaintext.data(), count);  // the stack is in a core dump, and a token in here
  }
  if (stream_ == nullptr || !tls_->flaw()) return;
  stop_reading();
  owner_.on_end(UV_EPROTO);
}

size_t ByteStream::read_tls(std::span<char> buffer) {
  if (tls_->is_established()) return tls_->read(buffer);
  const Instant began = Loop::now();
  const size_t count = tls_->read(buffer);
  owner_.on_handshake_work(Loop::now() - began);
  return count;
}

bool ByteStream::write(std::span<const std::string_view> pieces) {
  if (stream_ == nullptr || write_error_ != 0) return false;
  check(pieces.size() <= kMaxPieces && !is_finishing_, "a stream is written to before its end");
  if (tls_ == nullptr) return send(pieces);
  return tls_->write(pieces) && send_tls();
}

// What TLS has for the peer.
bool ByteStream::send_tls() {
  const std::string_view output = tls_->output();
  const bool is_sent = is_finishing_ || send(std::span(&output, 1));
  tls_->clear_output();
  return is_sent;
}

bool ByteStream::send(std::span<const std::string_view> pieces) {
  if (stream_ == nullptr || write_error_ != 0) return false;
  size_t written = 0;
  if (!is_writing_) {
    std::array<uv_buf_t, kMaxPieces> buffers{};
    unsigned count = 0;
    for (const std::string_view piece : pieces) {
      if (piece.empty()) continue;
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): libuv only reads from it.
      char* start = const_cast<char*>(piece.data());
      buffers[count] = uv_buf_init(start, static_cast<unsigned>(piece.size()));
      ++count;
    }
    if (count == 0) return true;
    const int status = uv_try_write(stream_, buffers.data(), count);
    if (status < 0 && status != UV_EAGAIN) {
      write_error_ = status;
      return false;
    }
    if (status > 0) written = static_cast<size_t>(status);
  }
  for (std::string_view piece : pieces) {
    const size_t skipped = std::min(written, piece.size());
    written -= skipped;
    waiting_ += piece.substr(skipped);
  }
  if (!is_writing_ && !waiting_.empty()) write_waiting();
  return write_error_ == 0;
}

size_t ByteStream::unsent_bytes() const {
  if (stream_ == nullptr) return 0;
  return waiting_.size() + uv_stream_get_write_queue_size(stream_) +
         (tls_ == nullptr ? 0 : tls_->waiting_bytes());
}

void ByteStream::finish() {
  if (stream_ == nullptr || is_finishing_) return;
  if (tls_ != nullptr) {
    tls_->finish();
    send_tls();
  }
  is_finishing_ = true;
  if (!is_writing_) shut_down();
}

void ByteStream::close() {
  stream_ = nullptr;
  is_reading_ = false;
  if (auto* tcp = std::get_if<UvPtr<uv_tcp_t>>(&handle_)) tcp->reset();
  if (auto* pipe = std::get_if<UvPtr<uv_pipe_t>>(&handle_)) pipe->reset();
}

void ByteStream::write_waiting() {
  auto write = std::make_unique<Write>();
  write->bytes.swap(waiting_);
  write->request.data = write.get();
  const uv_buf_t buffer =
      uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  write_error_ =
      uv_write(&write->request, stream_, &buffer, 1, [](uv_write_t* request, int result) {
        const std::unique_ptr<Write> ended(static_cast<Write*>(request->data));
        ByteStream* self = owner_of(request->handle);
        if (self != nullptr) self->on_written(result);
      });
  if (write_error_ != 0) return;
  write.release();  // NOLINT(bugprone-unused-return-value): its callback frees it.
  is_writing_ = true;
}

void ByteStream::on_written(int status) {
  is_writing_ = false;
  write_error_ = status;
  if (status == 0 && !waiting_.empty()) write_waiting();
  if (write_error_ != 0) {
    if (!is_reading_ && !is_held()) owner_.on_end(write_error_);
  } else if (!is_writing_) {
    if (is_finishing_) shut_down();
    owner_.on_drained();
  }
}

void ByteStream::shut_down() {
  auto request = std::make_unique<uv_shutdown_t>();
  const auto free_it = [](uv_shutdown_t* ended, int /*status*/) { delete ended; };
  if (uv_shutdown(request.get(), stream_, free_it) == 0) {
    request.release();  // NOLINT(bugprone-unused-return-value): its callback frees it.
  }
}

}  // namespace bellwether::io
