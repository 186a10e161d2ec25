// What a member may say by TLS that OpenSSL would not: most of it is sealed by hand, after the
// handshake.
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>

#include "session_pair.hh"

namespace bellwether::io::test {
namespace {

using KdfPtr = std::unique_ptr<EVP_KDF, FreeWith<EVP_KDF_free>>;
using KdfContextPtr = std::unique_ptr<EVP_KDF_CTX, FreeWith<EVP_KDF_CTX_free>>;
using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;

constexpr size_t kSecret = 32;
constexpr size_t kTag = 16;
constexpr size_t kNonce = 12;
constexpr char kHandshake = 0x16;
constexpr char kApplicationData = 0x17;

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// HKDF-Expand-Label (RFC 8446, section 7.1).
std::string derive(std::string secret, std::string label, size_t size) {
  std::string digest = "SHA256";
  std::string prefix = "tls13 ";
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  const std::array params{
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix.data(), prefix.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, label.data(), label.size()),
      OSSL_PARAM_construct_end()};
  const KdfPtr kdf(EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_TLS1_3_KDF, nullptr));
  const KdfContextPtr context(EVP_KDF_CTX_new(kdf.get()));
  std::string result(size, '\0');
  BOOST_REQUIRE(EVP_KDF_derive(context.get(), bytes_of(result), size, params.data()) == 1);
  return result;
}

// Records as a client with this secret would send them, from its first one on.
class Records {
 public:
  explicit Records(std::string secret) : secret_(std::move(secret)) {}

  std::string seal(char type, std::string inner) {
    inner += type;
    const size_t bytes = inner.size() + kTag;
    std::string header{kApplicationData, 3, 3, static_cast<char>(bytes / 256),
                       static_cast<char>(bytes % 256)};
    std::string key = derive(secret_, "key", 16);
    std::string nonce = derive(secret_, "iv", kNonce);
    nonce.back() = static_cast<char>(nonce.back() ^ number_++);
    const CipherPtr cipher(EVP_CIPHER_CTX_new());
    int size = 0;
    EVP_EncryptInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr, bytes_of(key), bytes_of(nonce));
    EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(header),
                      static_cast<int>(header.size()));
    EVP_EncryptUpdate(cipher.get(), bytes_of(inner), &size, bytes_of(inner),
                      static_cast<int>(inner.size()));
    std::string tag(kTag, '\0');
    EVP_EncryptFinal_ex(cipher.get(), nullptr, &size);
    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTag, tag.data());
    return header + inner + tag;
  }
  // What comes after a KeyUpdate.
  void update() {
    secret_ = derive(secret_, "traffic upd", kSecret);
    number_ = 0;
  }

 private:
  std::string secret_;
  char number_ = 0;
};

// As SSLKEYLOGFILE has it, of the last handshake.
std::string client_secret;

void note_secret(const SSL* /*ssl*/, const char* line) {
  const std::string text = line;
  if (!text.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) return;
  client_secret.clear();
  for (size_t at = text.size() - 2 * kSecret; at < text.size(); at += 2) {
    client_secret += static_cast<char>(std::stoi(text.substr(at, 2), nullptr, 16));
  }
}

// The server, and what its client says.
struct Established {
  Established() {
    SSL_CTX_set_keylog_callback(context->get(), note_secret);
    pair.run();
    BOOST_REQUIRE(pair.server.session.is_established());
    records.emplace(client_secret);
  }
  // The keys of the other direction are renewed as well if that `is_asked`.
  std::string key_update(bool is_asked) {
    const char asked = is_asked ? 1 : 0;
    std::string sealed = records->seal(kHandshake, std::string{24, 0, 0, 1, asked});
    records->update();
    return sealed;
  }

  Context context = with_secret(make_group_secret());
  SessionPair pair{context, context};
  Side& server = pair.server;
  std::optional<Records> records{};
};

BOOST_FIXTURE_TEST_SUITE(tls_after_handshake, Established)

BOOST_AUTO_TEST_CASE(a_renewal_of_the_keys_is_taken_and_answered) {
  server.take(key_update(true));
  server.take(records->seal(kApplicationData, "words"));
  BOOST_TEST(server.heard == "words");
  server.session.write("others");
  pair.run();
  BOOST_TEST(pair.client.heard == "others");
}

BOOST_AUTO_TEST_CASE(words_wait_for_the_rest_of_a_renewal) {
  server.take(records->seal(kHandshake, std::string("\x18\0\0\1", 4)));
  BOOST_TEST(server.session.write("words, "));
  BOOST_TEST(server.session.write("more words, "));
  BOOST_TEST(server.session.waiting_bytes() == 19U);
  server.take(records->seal(kHandshake, std::string(1, '\0')));
  BOOST_TEST(server.session.waiting_bytes() == 0U);
  BOOST_TEST(server.session.write("the last"));
  pair.run();
  BOOST_TEST(pair.client.heard == "words, more words, the last");
}

BOOST_AUTO_TEST_CASE(who_says_nothing_but_renews_the_keys_is_not_heard_for_long) {
  std::string flood;
  for (int i = 0; i < 2000; ++i) flood += key_update(true);
  server.take(flood);
  const size_t answered = server.give().size();
  BOOST_TEST_REQUIRE(server.session.flaw().has_value());
  BOOST_TEST((server.session.flaw()->reason == Rejection::kTlsProtocol));
  BOOST_TEST(answered < 1024U);
}

BOOST_AUTO_TEST_CASE(a_word_in_between_does_not_make_it_less) {
  for (int i = 0; i < 17; ++i) {
    server.take(key_update(false));
    server.take(records->seal(kApplicationData, "."));
  }
  BOOST_TEST_REQUIRE(server.session.flaw().has_value());
  BOOST_TEST((server.session.flaw()->reason == Rejection::kTlsProtocol));
  BOOST_TEST(server.heard.size() == 16U);
}

BOOST_AUTO_TEST_CASE(who_says_much_may_renew_the_keys_as_long) {
  const std::string words(size_t{16} * 1024, '.');
  for (int i = 0; i < 20; ++i) {
    for (int record = 0; record < 64; ++record) {
      server.take(records->seal(kApplicationData, words));
    }
    server.take(key_update(true));
    pair.run();
  }
  BOOST_TEST(!server.session.flaw().has_value());
  BOOST_TEST(server.heard.size() == 20U << 20);
}

BOOST_AUTO_TEST_CASE(a_second_handshake_is_the_end) {
  constexpr size_t kHeader = 5;
  Side again(context, TlsSide::kClient);
  server.take(records->seal(kHandshake, again.give().substr(kHeader)));
  BOOST_TEST_REQUIRE(server.session.flaw().has_value());
  BOOST_TEST((server.session.flaw()->reason == Rejection::kTlsProtocol));
  BOOST_TEST(!server.session.write("words"));
}

BOOST_AUTO_TEST_CASE(a_record_holds_16_kib_and_no_more) {
  constexpr size_t kMost = size_t{16} * 1024;
  server.take(records->seal(kApplicationData, std::string(kMost, '.')));
  BOOST_TEST(server.heard.size() == kMost);
  server.take(records->seal(kApplicationData, std::string(kMost + 1, '.')));
  BOOST_TEST(server.heard.size() == kMost);
  BOOST_TEST_REQUIRE(server.session.flaw().has_value());
  BOOST_TEST((server.session.flaw()->reason == Rejection::kTlsProtocol));
}

// --- before it ---

// A session that allows for early data, which OpenSSL takes from a callback without an argument.
SSL_SESSION* early_session = nullptr;
std::string early_identity;

int offer_early(SSL* /*ssl*/, const EVP_MD* /*digest*/, const unsigned char** identity,
                size_t* identity_bytes, SSL_SESSION** offered) {
  *identity = bytes_of(early_identity);
  *identity_bytes = early_identity.size();
  *offered = std::exchange(early_session, nullptr);
  return 1;
}

BOOST_AUTO_TEST_CASE(what_is_said_early_is_not_heard) {
  const GroupKey& key = context->keys().front();
  early_identity = key.identity;
  const SslContextPtr by_itself(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_psk_use_session_callback(by_itself.get(), offer_early);
  std::string protocol =
      "\x0c"
      "bellwether/1";
  SSL_CTX_set_alpn_protos(by_itself.get(), bytes_of(protocol),
                          static_cast<unsigned>(protocol.size()));
  const SslPtr client(SSL_new(by_itself.get()));
  BIO* sent = BIO_new(BIO_s_mem());
  SSL_set_bio(client.get(), BIO_new(BIO_s_mem()), sent);
  SSL_set_connect_state(client.get());
  constexpr std::array<unsigned char, 2> kAes128GcmSha256{0x13, 0x01};
  early_session = SSL_SESSION_new();
  SSL_SESSION_set1_master_key(early_session, key.key.data(), key.key.size());
  SSL_SESSION_set_cipher(early_session, SSL_CIPHER_find(client.get(), kAes128GcmSha256.data()));
  SSL_SESSION_set_protocol_version(early_session, TLS1_3_VERSION);
  SSL_SESSION_set_max_early_data(early_session, 1000);
  SSL_SESSION_set1_alpn_selected(early_session, bytes_of(protocol) + 1, protocol.size() - 1);
  size_t written = 0;
  BOOST_TEST_REQUIRE(SSL_write_early_data(client.get(), "words", 5, &written) == 1);
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(sent, &bytes);
  Side early(context, TlsSide::kServer);
  early.take({bytes, static_cast<size_t>(count)});
  BOOST_TEST(early.heard.empty());
  BOOST_TEST(!early.session.is_established());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io::test
