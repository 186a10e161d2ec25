// A TCP connection to a peer: bytes to frames and back, by TLS or not, and a bounded queue of what
// the peer has not read yet.  Who the peer is, and whether it is wanted, is its owner's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/link_limits.hh"
#include "io/loop/byte_stream.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/connection_ends.hh"
#include "io/names/socket_address.hh"
#include "io/peers/link_rules.hh"
#include "io/peers/link_security.hh"
#include "io/wire/codec.hh"

namespace bellwether::io {

class PeerConnection final : private ByteStream::Owner {
 public:
  // Called from the loop, never from within a call into the connection.  The owner may close the
  // connection in a call, and must keep the object until the call has returned.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_greeting(PeerConnection& connection, const Greeting& greeting) = 0;
    virtual void on_frame(PeerConnection& connection, Frame frame, size_t bytes) = 0;
    virtual void on_turned_away(PeerConnection& connection, TurnedAway words) = 0;
    // A frame of a kind unknown here was skipped.
    virtual void on_skipped(PeerConnection& connection) = 0;
    // The peer's bytes are of no use, or it is not who it must be; the connection is to be closed.
    virtual void on_flaw(PeerConnection& connection, const FrameError& error) = 0;
    // How long the loop has just been busy with the connection's handshake of TLS.
    virtual void on_handshake_work(PeerConnection& /*connection*/, Duration /*spent*/) {}
    // No HELLO within LinkLimits::handshake, TLS included; the connection is to be closed.
    virtual void on_silence(PeerConnection& connection) = 0;
    // It has ended, and is closed: `error` is an errno, or 0 for the peer's FIN.
    virtual void on_end(PeerConnection& connection, int error) = 0;
  };

  struct Settings {
    const std::string& group;
    const LinkLimits& limits;
    std::optional<SocketAddress> dialled;  // that was dialled, if it was dialled here
    TlsContextPtr tls;                     // nullptr: plain
    bool takes_plain = true;  // with `tls`, of a connection that was accepted: as the peer begins
    bool is_from_known_host = false;  // there is a member, or a configured peer
  };

  // `socket` is connected.  `read_buffer` may serve all connections of a loop: nothing stays in it.
  PeerConnection(Loop& loop, UvPtr<uv_tcp_t> socket, Owner& owner, std::span<char> read_buffer,
                 Settings settings);
  ~PeerConnection() override = default;
  PeerConnection(const PeerConnection&) = delete;
  PeerConnection& operator=(const PeerConnection&) = delete;

  bool is_open() const { return stream_.is_open(); }
  const std::optional<SocketAddress>& dialled() const { return dialled_; }
  bool is_from_known_host() const { return is_from_known_host_; }
  // The connection as this side sees it.
  const ConnectionEnds& ends() const { return ends_; }
  // The other end as numbers, host:port.
  std::string remote() const { return ends_.there.empty() ? "?" : ends_.there; }

  // Nothing: it is plain, or not yet decided.
  const TlsSession* tls() const { return stream_.tls(); }
  LinkFacts facts() const;
  // Which revision of this node (MemberEntry) its HELLO here says.
  void note_told(uint64_t revision) { told_ = revision; }

  // Whose HELLO was accepted; it is a link then.
  void become_link(PeerIdentity peer, Instant now);
  bool is_link() const { return peer_.has_value(); }
  const PeerIdentity& peer() const { return *peer_; }
  Duration link_age(Instant now) const { return now - link_since_; }

  // How long what was sent may go without an acknowledgement (LinkLimits::unacknowledged).
  void set_patience(Duration unacknowledged);

  // What was written and has not left for the kernel.
  size_t unsent_bytes() const { return stream_.unsent_bytes(); }
  // Hands the bytes to the kernel, or queues them.  Returns whether it did: not when the connection
  // has ended (on_end() is on its way then, or was there), and not once finish() was called.
  bool write(std::span<const uint8_t> bytes);

  // Until resume() nothing that the peer says is read.
  void pause() { stream_.stop_reading(); }
  void resume() { stream_.start_reading(); }

  // Ends it at once; the owner hears nothing more, also not of a HELLO that never came.
  void close() {
    handshake_.arm(kNever);
    stream_.close();
  }
  // Writes what is queued, says FIN, and waits for the peer's; what the peer says is not heard any
  // more.  on_end() is still called.
  void finish() { stream_.finish(); }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_end(int status) override;
  void on_drained() override {}
  void on_handshake_work(Duration spent) override { owner_.on_handshake_work(*this, spent); }

  void take_in(std::span<const uint8_t> bytes);
  void pass_on(Decoded found);

  Owner& owner_;
  std::optional<SocketAddress> dialled_;
  bool is_from_known_host_;
  TlsContextPtr offered_tls_;  // while it is not known whether the peer wants it
  ConnectionEnds ends_;
  std::optional<PeerIdentity> peer_{};
  Instant link_since_{};
  uint64_t told_ = 0;
  Decoder decoder_;
  uint64_t skipped_ = 0;    // of those that the decoder has skipped, how many were passed on
  size_t frame_bytes_ = 0;  // of what the decoder is at
  DeadlineTimer handshake_;
  ByteStream stream_;
};

}  // namespace bellwether::io
