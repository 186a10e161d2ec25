// What OpenSSL is told, once for each context.  Everything that the system's openssl.cnf could
// loosen is set here.
#include "io/tls/tls_context.hh"

#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <span>
#include <utility>

#include "io/tls/tls_session.hh"

namespace bellwether::io {
namespace {

// RSA of 2048 bits, curves of 224, SHA-256.
constexpr int kSecurityLevel = 2;
constexpr const char* kGroups = "X25519:P-256:P-384";
// A pre-shared key belongs to one hash; ours to SHA-256.
constexpr const char* kCiphersOfSecret = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
// More than a certificate, two between it and the authority, and their names take.
constexpr long kMaxChainBytes = 16384;

constexpr std::array<unsigned char, 10> kSessionsFor{'b', 'e', 'l', 'l', 'w',
                                                     'e', 't', 'h', 'e', 'r'};
// Of TLS 1.2 only what TLS 1.3 has as well (RFC 9325, section 4.2).
constexpr const char* kCiphersOfTls12 = "ECDHE+AESGCM:ECDHE+CHACHA20";

void require(bool is_done, const char* what) {
  if (is_done) return;
  throw TlsError(std::string("OpenSSL refuses ") + what + ": " + take_openssl_error());
}

const TlsContext& context_of(const SSL* ssl) { return TlsSession::of(ssl).context(); }

int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* length,
                    const unsigned char* offered, unsigned offered_bytes, void* /*argument*/) {
  const std::string& wanted = context_of(ssl).kind().protocol;
  std::span<const unsigned char> rest(offered, offered_bytes);
  while (!rest.empty() && rest.size() > rest.front()) {
    const auto name = rest.subspan(1, rest.front());
    if (std::ranges::equal(name, wanted)) {
      *chosen = name.data();
      *length = rest.front();
      return SSL_TLSEXT_ERR_OK;
    }
    rest = rest.subspan(name.size() + 1);
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

int verify_chain(X509_STORE_CTX* chain, void* /*argument*/) {
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  return TlsSession::of(ssl).verify(chain) ? 1 : 0;
}

void note_message(int is_sent, int /*version*/, int type, const void* message, size_t size,
                  SSL* ssl, void* /*argument*/) {
  const std::span bytes(static_cast<const unsigned char*>(message), size);
  if (bytes.empty()) return;
  if (is_sent == 0 && type == SSL3_RT_HANDSHAKE) TlsSession::of(ssl).note_message(bytes.front());
  if (is_sent != 0 && type == SSL3_RT_ALERT && bytes.back() == SSL_AD_NO_RENEGOTIATION) {
    TlsSession::of(ssl).note_second_handshake();
  }
}

// A pre-shared key as what OpenSSL takes for one: a session that nobody had.
SslSessionPtr session_of(SSL* ssl, const GroupKey& key) {
  constexpr std::array<unsigned char, 2> kAes128GcmSha256{0x13, 0x01};
  SslSessionPtr session(SSL_SESSION_new());
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256.data());
  const bool is_made =
      session != nullptr && cipher != nullptr &&
      SSL_SESSION_set1_master_key(session.get(), key.key.data(), key.key.size()) == 1 &&
      SSL_SESSION_set_cipher(session.get(), cipher) == 1 &&
      SSL_SESSION_set1_id_context(session.get(), kSessionsFor.data(), kSessionsFor.size()) == 1 &&
      SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
  return is_made ? std::move(session) : nullptr;
}

int offer_key(SSL* ssl, const EVP_MD* digest, const unsigned char** identity,
              size_t* identity_bytes, SSL_SESSION** offered) {
  *offered = nullptr;
  *identity = nullptr;
  *identity_bytes = 0;
  // A second try is for another hash, which our key is not for.
  if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
  const GroupKey& key = context_of(ssl).keys().front();
  SslSessionPtr session = session_of(ssl, key);
  if (session == nullptr) return 0;
  TlsSession::of(ssl).note_key(key.identity);
  *offered = session.release();
  *identity = reinterpret_cast<const unsigned char*>(key.identity.data());
  *identity_bytes = key.identity.size();
  return 1;
}

int find_key(SSL* ssl, const unsigned char* identity, size_t bytes, SSL_SESSION** found) {
  *found = nullptr;
  const std::string_view asked(reinterpret_cast<const char*>(identity), bytes);
  const auto& keys = context_of(ssl).keys();
  const auto key = std::ranges::find(keys, asked, &GroupKey::identity);
  if (key == keys.end()) return 1;  // goes on without, and fails
  SslSessionPtr session = session_of(ssl, *key);
  if (session == nullptr) return 0;
  TlsSession::of(ssl).note_key(key->identity);
  *found = session.release();
  return 1;
}

constexpr const char* kPlainMember =
    "the peer does not speak TLS, and tls.mode is \"strict\" here; give it the same [tls], or make "
    "this mode \"permissive\" until it has it";

}  // namespace

// A peer that speaks no TLS is told by the fatal alert protocol_version what it has met.
const TlsContext::Kind TlsContext::kMembers{.least_version = TLS1_3_VERSION,
                                            .versions = "TLS 1.3",
                                            .protocol = "bellwether/1",
                                            .must_offer = true,
                                            .plain_client = kPlainMember,
                                            .plain_answer = {"\x15\x03\x03\x00\x02\x02\x46", 7},
                                            .plain_server = kPlainMember,
                                            .remedies = kMemberRemedies};
const TlsContext::Kind TlsContext::kHttp{
    .least_version = TLS1_2_VERSION,
    .versions = "TLS 1.2 or 1.3",
    .protocol = "http/1.1",
    .must_offer = false,
    .plain_client = "the client does not speak TLS; give it an https:// URL",
    .plain_answer =
        "HTTP/1.0 400 Bad Request\r\nContent-Type: application/json\r\n\r\n"
        "{\"error\":\"this port speaks https\"}\n",
    .plain_server = "the server does not speak TLS there; call its port for https, or by http://",
    .remedies = kHttpRemedies};

TlsContext::TlsContext(const Kind& kind) : context_(SSL_CTX_new(TLS_method())), kind_(kind) {
  if (context_ == nullptr) throw std::bad_alloc();
  SSL_CTX* context = get();
  SSL_CTX_set_security_level(context, kSecurityLevel);
  require(SSL_CTX_set_min_proto_version(context, kind.least_version) == 1 &&
              SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1,
          kind.versions);
  require(SSL_CTX_set_cipher_list(context, kCiphersOfTls12) == 1, "the ciphers of TLS 1.2");
  std::string groups = kGroups;  // OpenSSL's macro wants what it may change
  require(SSL_CTX_set1_groups_list(context, groups.data()) == 1, "the groups of its key exchange");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_clear_options(context, SSL_OP_ALLOW_NO_DHE_KEX);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // A pre-shared key passes for a session, which has to name what it is for.
  require(SSL_CTX_set_session_id_context(context, kSessionsFor.data(), kSessionsFor.size()) == 1,
          "a name for its sessions");
  require(SSL_CTX_set_num_tickets(context, 0) == 1, "to make no tickets");
  SSL_CTX_set_max_early_data(context, 0);
  SSL_CTX_set_recv_max_early_data(context, 0);
  SSL_CTX_set_max_cert_list(context, kMaxChainBytes);
  SSL_CTX_set_msg_callback(context, note_message);
  // What is at rest holds no buffers; and what has to wait may be moved meanwhile.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_cert_verify_callback(context, verify_chain, nullptr);
  set_protocol();
}

void TlsContext::set_protocol() const {
  SSL_CTX* context = get();
  std::string offered(1, static_cast<char>(kind_.protocol.size()));
  offered += kind_.protocol;
  require(SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(offered.data()),
                                  static_cast<unsigned>(offered.size())) == 0,
          "the name of the protocol");
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

void TlsContext::show(const CertificateSet& set) {
  SSL_CTX* context = get();
  require(SSL_CTX_use_certificate(context, set.cert.get()) == 1, "the certificate");
  require(SSL_CTX_use_PrivateKey(context, set.key.get()) == 1, "the private key");
  for (const X509Ptr& certificate : set.chain) {
    require(SSL_CTX_add1_chain_cert(context, certificate.get()) == 1, "the chain");
  }
  material_ = std::to_string(set.chain.size()) + digest_of(set.cert.get());
  for (const X509Ptr& certificate : set.chain) material_ += digest_of(certificate.get());
  std::set<std::string> believed;  // in whatever order the file has them
  for (const X509Ptr& authority : set.ca) believed.insert(digest_of(authority.get()));
  for (const std::string& digest : believed) material_ += digest;
  names_ = described(set.cert.get()).names;
  beginning_ = beginning_of(set.cert.get());
  expiry_ = expiry_of(set);
}

void TlsContext::believe(const std::vector<X509Ptr>& authorities, int verify_mode) const {
  SSL_CTX_set_cert_store(get(), make_store(authorities).release());
  SSL_CTX_set_verify(get(), verify_mode, nullptr);
}

TlsContextPtr TlsContext::of_members(const CertificateSet& set, MemberRules rules) {
  std::shared_ptr<TlsContext> made(new TlsContext(kMembers));
  made->show(set);
  made->believe(set.ca, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
  made->judge_ = [rules = std::move(rules)](const PeerCertificate& peer) {
    return judge_member(peer, rules);
  };
  return made;
}

TlsContextPtr TlsContext::of_members(std::vector<GroupKey> keys) {
  std::shared_ptr<TlsContext> made(new TlsContext(kMembers));
  made->keys_ = std::move(keys);
  for (const GroupKey& key : made->keys_) made->material_ += key.identity;
  SSL_CTX* context = made->get();
  require(SSL_CTX_set_ciphersuites(context, kCiphersOfSecret) == 1, "the ciphers");
  SSL_CTX_set_psk_use_session_callback(context, offer_key);
  SSL_CTX_set_psk_find_session_callback(context, find_key);
  // A peer that shows a certificate instead is believed by nobody.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return made;
}

// By these a browser chooses which of its certificates it shows; without them it shows any.  What
// has more of them than go into a message would be answered by nobody.
void TlsContext::name_authorities(const std::vector<X509Ptr>& authorities) const {
  constexpr int kMostBytes = 16 * 1024;
  int bytes = 0;
  for (const X509Ptr& each : authorities) {
    bytes += 2 + std::max(0, i2d_X509_NAME(X509_get_subject_name(each.get()), nullptr));
  }
  if (bytes > kMostBytes) return;
  for (const X509Ptr& each : authorities) {
    require(SSL_CTX_add_client_CA(get(), each.get()) == 1, "the names of authorities");
  }
}

TlsContextPtr TlsContext::of_http_server(const CertificateSet& set, ClientCertificate wanted) {
  std::shared_ptr<TlsContext> made(new TlsContext(kHttp));
  made->show(set);
  if (set.ca.empty()) return made;
  const bool is_required = wanted == ClientCertificate::kRequired;
  made->believe(set.ca, SSL_VERIFY_PEER | (is_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0));
  made->name_authorities(set.ca);
  return made;
}

TlsContextPtr TlsContext::of_http_client(const CertificateSet& set) {
  std::shared_ptr<TlsContext> made(new TlsContext(kHttp));
  if (set.cert != nullptr) made->show(set);
  made->believe(set.ca, SSL_VERIFY_PEER);
  made->judges_server_names_ = true;
  return made;
}

TlsContextPtr TlsContext::of_http_client(const CertificateSet& set, const X509Ptr& server) {
  std::shared_ptr<TlsContext> made(new TlsContext(kHttp));
  if (set.cert != nullptr) made->show(set);
  X509_up_ref(server.get());
  std::vector<X509Ptr> believed;
  believed.emplace_back(server.get());
  made->believe(believed, SSL_VERIFY_PEER);
  return made;
}

std::optional<TlsFlaw> TlsContext::judge(const PeerCertificate& peer) const {
  return judge_ ? judge_(peer) : std::nullopt;
}

}  // namespace bellwether::io
