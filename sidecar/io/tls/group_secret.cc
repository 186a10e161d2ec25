// Derivation by OpenSSL's HKDF.
#include "io/tls/group_secret.hh"

#include <fmt/ranges.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <array>
#include <memory>
#include <span>

#include "base/ascii.hh"
#include "base/lines.hh"
#include "io/tls/openssl.hh"

namespace bellwether::io {
namespace {

// Of one line of the file; wiped when it goes.
struct SecretLine {
  std::array<uint8_t, kSecretBytes> bytes{};

  SecretLine() = default;
  SecretLine(const SecretLine&) = delete;
  SecretLine& operator=(const SecretLine&) = delete;
  ~SecretLine() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};
using KdfPtr = std::unique_ptr<EVP_KDF, FreeWith<EVP_KDF_free>>;
using KdfContextPtr = std::unique_ptr<EVP_KDF_CTX, FreeWith<EVP_KDF_CTX_free>>;

constexpr size_t kIdentityBytes = 16;
constexpr size_t kMaxKeys = 8;

std::string hex(std::span<const uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// Fills `derived`.
void derive(SecretLine& secret, std::string purpose, const std::string& group,
            std::span<uint8_t> derived) {
  purpose = "bellwether/1 " + purpose + " " + group;
  std::string digest = "SHA256";
  const std::array params{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.bytes.data(),
                                        secret.bytes.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, purpose.data(), purpose.size()),
      OSSL_PARAM_construct_end()};
  const KdfPtr kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const KdfContextPtr context(kdf == nullptr ? nullptr : EVP_KDF_CTX_new(kdf.get()));
  if (context == nullptr ||
      EVP_KDF_derive(context.get(), derived.data(), derived.size(), params.data()) != 1) {
    throw TlsError("OpenSSL cannot derive a key: " + take_openssl_error());
  }
}

GroupKey make_key(SecretLine& secret, const std::string& group) {
  std::array<uint8_t, kIdentityBytes> identity{};
  derive(secret, "identity", group, identity);
  GroupKey key{.identity = hex(identity), .key = UndumpedVector<uint8_t>(kSecretBytes)};
  derive(secret, "key", group, key.key);
  return key;
}

bool parse_secret(std::string_view line, SecretLine& secret) {
  constexpr int kHex = 16;
  if (line.size() != 2 * kSecretBytes) return false;
  for (size_t i = 0; i < kSecretBytes; ++i) {
    const auto byte = parse_number<uint8_t>(line.substr(2 * i, 2), kHex);
    if (!byte) return false;
    secret.bytes[i] = *byte;
  }
  return true;
}

}  // namespace

std::vector<GroupKey> parse_group_secret(std::string_view text, const std::string& group) {
  std::vector<GroupKey> keys;
  for_each_line(text, [&](int number, std::string_view line) {
    SecretLine secret;
    if (!parse_secret(line, secret)) {
      throw TlsError(fmt::format(
          "line {} is not a secret of 64 hexadecimal digits; make one with \"bellwether keygen\"",
          number));
    }
    if (keys.size() == kMaxKeys) {
      throw TlsError(fmt::format("holds more than {} secrets; take out the oldest", kMaxKeys));
    }
    keys.push_back(make_key(secret, group));
  });
  if (keys.empty()) throw TlsError("holds no secret; make one with \"bellwether keygen\"");
  return keys;
}

std::string make_group_secret() {
  SecretLine secret;
  if (RAND_priv_bytes(secret.bytes.data(), static_cast<int>(secret.bytes.size())) != 1) {
    throw TlsError("OpenSSL has no random bytes: " + take_openssl_error());
  }
  return hex(secret.bytes);
}

}  // namespace bellwether::io
