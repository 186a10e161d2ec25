// OpenSSL between two strings: a BIO of our own reads what was received where it lies, and appends
// to the output.
#include "io/tls/tls_session.hh"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/host_port.hh"

namespace bellwether::io {
namespace {

constexpr unsigned kFirstAlertReason = SSL_AD_REASON_OFFSET;
constexpr unsigned kLastAlertReason = SSL_AD_REASON_OFFSET + 255;

constexpr const char* kNoSecretInCommon =
    "the peer has another secret, or certificates; tls.secret_file must hold one that both have";

TlsFlaw protocol_flaw(std::string text) { return {Rejection::kTlsProtocol, std::move(text)}; }

bool is_without_cipher(unsigned reason) {
  switch (reason) {
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SHARED_GROUPS:
    case SSL_R_NO_SUITABLE_GROUPS:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
      return true;
    default:
      return false;
  }
}

// There are rarely any, and clearing their queue costs as much as the cipher of a short frame.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

// --- the BIO ---

struct SessionBio {
  static TlsSession& session(BIO* bio) { return *static_cast<TlsSession*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* buffer, int size) {
    TlsSession& self = session(bio);
    BIO_clear_retry_flags(bio);
    if (self.input_.empty() || self.flaw_) {  // after a flaw nothing is read
      BIO_set_retry_read(bio);
      return -1;
    }
    const size_t count = self.input_.copy(buffer, static_cast<size_t>(size));
    self.input_.remove_prefix(count);
    return static_cast<int>(count);
  }

  static int write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    session(bio).output_.append(bytes, static_cast<size_t>(size));
    return size;
  }

  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* method() {
    static const BIO_METHOD* const kMethod = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "two strings");
      if (made == nullptr) throw std::bad_alloc();
      BIO_meth_set_read(made, read);
      BIO_meth_set_write(made, write);
      BIO_meth_set_ctrl(made, control);
      return made;
    }();
    return kMethod;
  }
};

TlsSession::TlsSession(TlsContextPtr context, TlsSide side, std::string server)
    : context_(std::move(context)),
      server_(std::move(server)),
      expiry_(context_->expiry()),
      ssl_(SSL_new(context_->get())) {
  if (server_.ends_with('.')) server_.pop_back();  // as no certificate, and no SNI, has it
  BIO* bio = ssl_ == nullptr ? nullptr : BIO_new(SessionBio::method());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  if (!server_.empty() && !is_ip_address(server_)) {
    // SSL_set_tlsext_host_name(), a macro with a cast that C++ does not like.
    SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, server_.data());
  }
  if (side == TlsSide::kServer) {
    SSL_set_accept_state(ssl_.get());
  } else {
    SSL_set_connect_state(ssl_.get());
  }
}

TlsSession& TlsSession::of(const SSL* ssl) {
  return *static_cast<TlsSession*>(SSL_get_app_data(ssl));
}

// --- bytes ---

void TlsSession::begin() {
  char nothing = 0;
  read({&nothing, 1});
}

size_t TlsSession::read(std::span<char> buffer) {
  if (flaw_) return 0;
  if (!is_heard_ && !input_.empty()) {
    is_heard_ = true;
    constexpr char kAlert = '\x15';
    if (!is_tls_hello(input_) && input_.front() != kAlert) {
      const TlsContext::Kind& kind = context_->kind();
      const bool is_client = SSL_is_server(ssl_.get()) == 0;
      flaw_ = TlsFlaw{Rejection::kTlsPlaintext, is_client ? kind.plain_server : kind.plain_client};
      if (!is_client) output_ = kind.plain_answer;
      return 0;
    }
  }
  // OpenSSL finds out by a long way that nothing is left, and an election waits for that after each
  // frame.
  if (is_established_ && input_.empty() && SSL_has_pending(ssl_.get()) == 0) return 0;
  forget_errors();
  size_t count = 0;
  const int result = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &count);
  if (result != 1) note_failure(result);  // before anything else is written
  if (!flaw_ && !is_established_ && SSL_is_init_finished(ssl_.get()) != 0) settle();
  if (flaw_) return 0;
  if (is_established_ && !waiting_.empty()) write_waiting();
  if (result != 1) return 0;
  heard_bytes_ += count;
  return count;
}

// The handshake is over.
void TlsSession::settle() {
  if (context_->has_secret() && SSL_session_reused(ssl_.get()) == 0) {
    flaw_ = TlsFlaw{Rejection::kTlsWrongSecret, kNoSecretInCommon};
    return;
  }
  const unsigned char* protocol = nullptr;
  unsigned bytes = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &bytes);
  const std::string& wanted = context_->kind().protocol;
  const bool is_offered = bytes > 0 || context_->kind().must_offer;
  if (is_offered && !std::ranges::equal(std::span(protocol, bytes), wanted)) {
    flaw_ = unoffered_protocol();
    return;
  }
  is_established_ = true;
}

bool TlsSession::write(std::span<const std::string_view> pieces) {
  if (flaw_) return false;
  const bool is_due = is_established_ && waiting_.empty();
  for (const std::string_view piece : pieces) waiting_ += piece;  // one record costs less than two
  if (is_due && !waiting_.empty()) write_waiting();
  return !flaw_;
}

// All of it, or nothing yet.
void TlsSession::write_waiting() {
  forget_errors();
  size_t count = 0;
  const int result = SSL_write_ex(ssl_.get(), waiting_.data(), waiting_.size(), &count);
  if (result != 1) return note_failure(result);
  waiting_.clear();
}

void TlsSession::finish() {
  if (flaw_ || !is_established_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

// --- who the peer is ---

bool TlsSession::verify(X509_STORE_CTX* chain) {
  if (context_->has_secret()) {
    flaw_ = TlsFlaw{Rejection::kTlsWrongSecret, kNoSecretInCommon};
    X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_UNTRUSTED);
    return false;
  }
  X509* certificate = X509_STORE_CTX_get0_cert(chain);
  if (X509_verify_cert(chain) != 1) {
    flaw_ = chain_flaw(X509_STORE_CTX_get_error(chain), certificate);
    return false;
  }
  peer_ = described(certificate);
  flaw_ = context_->judge(*peer_);
  if (!flaw_) flaw_ = judge_server();
  if (flaw_) {
    X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
    return false;
  }
  const std::time_t theirs = expiry_of(chain);
  expiry_ = expiry_ ? std::min(*expiry_, theirs) : theirs;
  return true;
}

// RFC 9110, section 4.3.4.
std::optional<TlsFlaw> TlsSession::judge_server() const {
  if (server_.empty() || !context_->judges_server_names()) return std::nullopt;
  if (is_for_host(peer_->names, server_)) return std::nullopt;
  return TlsFlaw{Rejection::kTlsWrongName, "the server's certificate is for " +
                                               peer_->names.text() + ", not for " + server_ +
                                               "; call it by such a name, or issue one for this"};
}

bool TlsSession::is_believed_by(const TlsContext& other) const {
  if (!peer_) {
    return std::ranges::any_of(
        other.keys(), [this](const GroupKey& key) { return key.identity == key_identity_; });
  }
  if (other.has_secret() || other.judge(*peer_)) return false;
  const X509StoreContextPtr chain(X509_STORE_CTX_new());
  if (chain == nullptr || X509_STORE_CTX_init(chain.get(), SSL_CTX_get_cert_store(other.get()),
                                              SSL_get0_peer_certificate(ssl_.get()),
                                              SSL_get_peer_cert_chain(ssl_.get())) != 1) {
    throw std::bad_alloc();
  }
  X509_STORE_CTX_set_purpose(chain.get(), SSL_is_server(ssl_.get()) != 0 ? X509_PURPOSE_SSL_CLIENT
                                                                         : X509_PURPOSE_SSL_SERVER);
  const bool is_believed = X509_verify_cert(chain.get()) == 1;
  ERR_clear_error();
  return is_believed;
}

// --- what is wrong ---

// Whoever runs this program sends none, and another TLS library a few: keys are due for renewal
// after 2^24.5 records (RFC 8446, section 5.5).  Each costs as much as a long frame, and those that
// ask for an answer cost one, which waits if the peer does not read.
void TlsSession::note_message(int type) {
  constexpr uint64_t kMostMessages = 16;
  constexpr uint64_t kBytesForOneMore = uint64_t{1} << 20;
  const bool is_after =
      is_established_ || type == SSL3_MT_KEY_UPDATE || type == SSL3_MT_NEWSESSION_TICKET;
  if (!is_after || flaw_) return;
  if (++messages_ <= kMostMessages + heard_bytes_ / kBytesForOneMore) return;
  flaw_ = protocol_flaw("the peer renews keys and tickets, and says little; see what it is");
}

// A server's wishes are counted like other messages: it may go on without.
void TlsSession::note_second_handshake() {
  if (flaw_ || SSL_is_server(ssl_.get()) == 0) return;
  flaw_ = protocol_flaw("the peer asks for a second handshake; let it connect anew instead");
}

void TlsSession::note_failure(int result) {
  const int kind = SSL_get_error(ssl_.get(), result);
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  // After the peer's close_notify only the end of the connection can come.
  const bool is_nothing = kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_ZERO_RETURN;
  if (!is_nothing && !flaw_) flaw_ = flaw_of_error(error);
}

TlsFlaw TlsSession::unoffered_protocol() const {
  const TlsContext::Kind& kind = context_->kind();
  return protocol_flaw("the peer does not offer the protocol " + kind.protocol + "; " +
                       kind.remedies.no_protocol);
}

TlsFlaw TlsSession::flaw_of_error(unsigned long error) const {
  const TlsContext::Kind& kind = context_->kind();
  const auto reason = static_cast<unsigned>(ERR_GET_REASON(error));
  if (reason >= kFirstAlertReason && reason <= kLastAlertReason) {
    const int alert = static_cast<int>(reason - kFirstAlertReason);
    return {Rejection::kTlsRefused, std::string("the peer refused this side (") +
                                        SSL_alert_desc_string_long(alert) +
                                        "): " + remedy_for_alert(kind.remedies, alert)};
  }
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE && !context_->has_secret()) {
    return {Rejection::kTlsNoCertificate,
            std::string("the peer shows no certificate; ") + kind.remedies.no_certificate};
  }
  if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_UNKNOWN_PROTOCOL) {
    return protocol_flaw(std::string("the peer does not speak ") + kind.versions + "; " +
                         kind.remedies.no_version);
  }
  if (reason == SSL_R_NO_APPLICATION_PROTOCOL) return unoffered_protocol();
  if (context_->has_secret() && !is_established_) {
    return {Rejection::kTlsWrongSecret, kNoSecretInCommon};
  }
  const char* known = ERR_reason_error_string(error);
  const std::string words = known == nullptr ? "unknown error" : known;
  if (is_without_cipher(reason)) {
    return protocol_flaw("the peer has no cipher in common with this side (" + words + "); " +
                         kind.remedies.no_cipher);
  }
  if (reason == SSL_R_EXCESSIVE_MESSAGE_SIZE) {
    return protocol_flaw(
        "the peer sends a longer chain of certificates than 16 KiB; let it end "
        "with the one below the authority");
  }
  return protocol_flaw("the peer broke the rules of TLS: " + words +
                       "; see what it is, and whether something between the two changes what they "
                       "send");
}

}  // namespace bellwether::io
