// A connected socket, TCP or unix, on the event loop: bytes in both directions and its end; by TLS
// if its owner wants that, of which nobody else need know.
//
// What is written goes to the kernel at once as far as it takes it; only the rest is copied and
// waits.  SIGPIPE must be ignored in this process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "io/loop/loop.hh"
#include "io/tls/tls_session.hh"

namespace bellwether::io {

class ByteStream {
 public:
  // Called from within the loop, and from within secure() and go_on(), but no other call of this
  // class; may close the stream but not destroy it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_bytes(std::string_view bytes) = 0;
    // Nothing more comes: the other side has closed its direction (UV_EOF), or the connection is
    // broken (another error of libuv: that of the first write that failed, for it is used up
    // there; UV_EPROTO: TLS says what is wrong, tls()->flaw()).  What was received before a write
    // failed is told first.
    virtual void on_end(int status) = 0;
    // All that had to wait is with the kernel.
    virtual void on_drained() = 0;
    // How long the loop has just been busy with the handshake of TLS.
    virtual void on_handshake_work(Duration /*spent*/) {}
    // Whether what has come by TLS can be deciphered now: a step of a handshake may take a
    // millisecond, and a buffer full of tiny records several.  If not, the bytes are kept and
    // nothing more is read until go_on().
    virtual bool has_time_for_tls() { return true; }
  };
  using Handle = std::variant<UvPtr<uv_tcp_t>, UvPtr<uv_pipe_t>>;
  static uv_stream_t* stream_of(const Handle& handle);

  // `owner` and `buffer`, where bytes are received, outlive the stream; streams of one loop can
  // share the buffer.
  ByteStream(Owner& owner, Handle handle, std::span<char> buffer);
  ~ByteStream() { close(); }
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // From now on all bytes are TLS.  Before anything is read or written; or in the first
  // Owner::on_bytes(), with what that was told.
  void secure(std::unique_ptr<TlsSession> session, std::string_view received = {});
  // nullptr: the bytes are as they are.
  const TlsSession* tls() const { return tls_.get(); }

  bool is_open() const { return stream_ != nullptr; }
  bool is_reading() const { return is_reading_; }
  void start_reading();
  void stop_reading();

  // There was no time for what has come.
  bool is_held() const { return !held_.empty(); }
  // Does what has_time_for_tls() had no time for; asks it again.
  void go_on();

  // The descriptor of the socket; -1 when closed.
  int descriptor() const { return is_open() ? descriptor_of(*stream_) : -1; }

  // At most kMaxPieces, one after the other.  False when the connection is broken (who reads hears
  // of its end) or closed.
  static constexpr size_t kMaxPieces = 3;
  bool write(std::span<const std::string_view> pieces);
  bool write(std::string_view bytes) { return write(std::span(&bytes, 1)); }
  // Written, but not yet with the kernel.
  size_t unsent_bytes() const;

  // Ends our direction when all is sent; nothing may be written after that.  What waits for a
  // handshake is not sent any more.
  void finish();
  bool is_finishing() const { return is_finishing_; }
  // Ends both at once; what is unsent is dropped.
  void close();

 private:
  struct Write;

  void receive(std::string_view bytes);
  size_t read_tls(std::span<char> buffer);
  void receive_tls(std::string_view bytes);
  bool send(std::span<const std::string_view> pieces);
  bool send_tls();
  void write_waiting();
  void on_written(int status);
  void shut_down();

  Owner& owner_;
  std::span<char> buffer_;
  std::string waiting_;  // to be written when the write that is under way has ended
  bool is_writing_ = false;
  bool is_reading_ = false;
  bool is_finishing_ = false;
  int write_error_ = 0;
  std::unique_ptr<TlsSession> tls_;
  std::string held_;               // ciphertext, until there is time for it
  uv_stream_t* stream_ = nullptr;  // in `handle_`; nullptr when closed
  Handle handle_;
};

}  // namespace bellwether::io
