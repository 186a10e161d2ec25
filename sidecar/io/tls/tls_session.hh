// TLS on one connection: bytes of the network in, what the peer said out, and back.  It has no
// socket, waits for nothing, and knows nothing of what is said.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/undumped_memory.hh"
#include "io/tls/tls_context.hh"

namespace bellwether::io {

enum class TlsSide : uint8_t { kClient, kServer };

// Whether this is how every connection by TLS begins.
inline bool is_tls_hello(std::string_view bytes) { return bytes.starts_with('\x16'); }

class TlsSession {
 public:
  // `server`: the name or the address that a client has called, of which the server must have a
  // certificate; "": which name it has is for the context to judge.  Throws std::bad_alloc.
  TlsSession(TlsContextPtr context, TlsSide side, std::string server = "");
  ~TlsSession() = default;
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // The one that OpenSSL calls back for.
  static TlsSession& of(const SSL* ssl);

  // A client's first bytes to be sent come about here; see output().
  void begin();

  // `ciphertext` must stay until read() has returned 0.
  void receive(std::string_view ciphertext) { input_ = ciphertext; }
  // What the peer has said, as far as `buffer` has room; 0: all that was received is read, or
  // something is wrong (flaw()).  There may be output afterwards.
  size_t read(std::span<char> buffer);

  // What is written before the handshake is over waits for its end; and, if half of a peer's
  // KeyUpdate has come, for the rest.  False when something is wrong.
  bool write(std::span<const std::string_view> pieces);
  bool write(std::string_view plaintext) { return write(std::span(&plaintext, 1)); }
  // Says that no more comes (close_notify).
  void finish();

  // Bytes for the network; whoever has sent them clears them.
  const std::string& output() const { return output_; }
  void clear_output() { output_.clear(); }
  // Written, but not yet part of the output.
  size_t waiting_bytes() const { return waiting_.size(); }

  // The handshake is over, and whoever had to prove who it is has done so, as far as this side
  // knows; a server may still refuse what a client has shown.
  bool is_established() const { return is_established_; }
  // The peer has said that no more comes (close_notify).
  bool has_ended() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }
  // Why the connection is to be closed, when it is; the alert for the peer is in the output.
  const std::optional<TlsFlaw>& flaw() const { return flaw_; }

  // Of the peer, once established; nothing where a secret is shared, or where it has shown none.
  const std::optional<PeerCertificate>& peer() const { return peer_; }
  // When the first of the certificates of both sides, or of an authority behind them, is over, in
  // seconds since 1970.
  std::optional<std::time_t> expiry() const { return expiry_; }
  const TlsContext& context() const { return *context_; }
  // Whether what the peer has shown would be believed by another context, too.
  bool is_believed_by(const TlsContext& other) const;

  // Called back by OpenSSL, in the handshake.
  bool verify(X509_STORE_CTX* chain);
  void note_key(const std::string& identity) { key_identity_ = identity; }
  // Of each message of TLS's own that has come.
  void note_message(int type);
  // By TLS 1.2 the peer has asked for one, and OpenSSL says no: each time, without an end.
  void note_second_handshake();

 private:
  friend struct SessionBio;

  void settle();
  void write_waiting();
  void note_failure(int result);
  TlsFlaw unoffered_protocol() const;
  TlsFlaw flaw_of_error(unsigned long error) const;

  std::optional<TlsFlaw> judge_server() const;

  TlsContextPtr context_;  // shared with all connections that were made with it
  std::string server_;     // a client's: whom it has called
  std::string_view input_;
  std::string output_;
  SecretText waiting_;        // written before it could be part of the output
  uint64_t heard_bytes_ = 0;  // what the peer has said
  uint64_t messages_ = 0;     // of TLS's own, after the handshake
  bool is_established_ = false;
  bool is_heard_ = false;  // something has been received
  std::optional<TlsFlaw> flaw_;
  std::optional<PeerCertificate> peer_;
  std::optional<std::time_t> expiry_;
  std::string key_identity_;  // of the secret that was offered, or found
  SslPtr ssl_;
};

}  // namespace bellwether::io
