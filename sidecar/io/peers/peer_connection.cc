// Reading stops at nothing but the end: the core is faster than any peer may write.
#include "io/peers/peer_connection.hh"

#include <utility>

#include "io/names/socket_options.hh"

namespace bellwether::io {

PeerConnection::PeerConnection(Loop& loop, UvPtr<uv_tcp_t> socket, Owner& owner,
                               std::span<char> read_buffer, Settings settings)
    : owner_(owner),
      dialled_(std::move(settings.dialled)),
      is_from_known_host_(settings.is_from_known_host),
      offered_tls_(std::move(settings.tls)),
      ends_(ends_of(descriptor_of(*socket))),
      decoder_(settings.group),
      handshake_(loop, [this] { owner_.on_silence(*this); }),
      stream_(*this, std::move(socket), read_buffer) {
  prepare_peer_socket(stream_.descriptor());
  set_patience(settings.limits.unacknowledged);
  handshake_.arm(Loop::now() + settings.limits.handshake);
  if (offered_tls_ != nullptr && (dialled_ || !settings.takes_plain)) {
    const TlsSide side = dialled_ ? TlsSide::kClient : TlsSide::kServer;
    stream_.secure(std::make_unique<TlsSession>(std::exchange(offered_tls_, nullptr), side));
  }
  stream_.start_reading();
}

LinkFacts PeerConnection::facts() const {
  const TlsSession* session = tls();
  if (session == nullptr) return {.remote = remote(), .told = told_};
  const auto& certificate = session->peer();
  return {.remote = remote(),
          .security = certificate ? Security::kCertificate : Security::kSecret,
          .certificate = certificate ? certificate->names.text() : "",
          .expiry = session->expiry(),
          .told = told_};
}

void PeerConnection::become_link(PeerIdentity peer, Instant now) {
  peer_ = std::move(peer);
  link_since_ = now;
  handshake_.arm(kNever);
  resume();  // strangers may have to wait just now
}

void PeerConnection::set_patience(Duration unacknowledged) {
  if (is_open()) set_user_timeout(stream_.descriptor(), unacknowledged);
}

bool PeerConnection::write(std::span<const uint8_t> bytes) {
  return !stream_.is_finishing() &&
         stream_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void PeerConnection::on_bytes(std::string_view bytes) {
  if (auto offered = std::exchange(offered_tls_, nullptr); offered && is_tls_hello(bytes)) {
    return stream_.secure(std::make_unique<TlsSession>(std::move(offered), TlsSide::kServer),
                          bytes);
  }
  take_in({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

// However it has ended, our side goes by RST, which nobody hears any more.  After a FIN the peer's
// kernel would keep the pair of ports for a minute (TIME_WAIT), and a try to connect that is given
// the same port again would be refused 8 ms late.
void PeerConnection::on_end(int status) {
  if (status == UV_EPROTO && tls() != nullptr && tls()->flaw()) {
    // Not by RST: it would overtake the alert.
    const TlsFlaw flaw = *tls()->flaw();
    owner_.on_flaw(*this, {flaw.reason, flaw.text});
    return close();
  }
  abort_on_close(stream_.descriptor());
  close();
  owner_.on_end(*this, status == UV_EOF ? 0 : -status);
}

void PeerConnection::take_in(std::span<const uint8_t> bytes) {
  while (is_open() && !stream_.is_finishing()) {
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

}  // namespace bellwether::io
