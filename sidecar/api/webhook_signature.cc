// HMAC-SHA256 over "id.timestamp.body", in base64.
#include "api/webhook_signature.hh"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "base/lines.hh"
#include "io/tls/base64.hh"
#include "io/tls/openssl.hh"

namespace bellwether::api {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr size_t kMinKeyBytes = 24;
constexpr size_t kMaxKeyBytes = 64;
constexpr size_t kMaxKeys = 8;

std::optional<SecretText> key_of(std::string_view line) {
  const bool is_visible = std::ranges::all_of(line, [](char c) { return c > ' ' && c <= '~'; });
  if (!is_visible) return std::nullopt;
  std::optional<SecretText> key = line.starts_with(kPrefix)
                                      ? io::from_base64(line.substr(kPrefix.size()))
                                      : std::optional<SecretText>(line);
  const bool is_fit = key && key->size() >= kMinKeyBytes && key->size() <= kMaxKeyBytes;
  return is_fit ? key : std::nullopt;
}

std::string signature(const SecretText& key, const std::string& content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned bytes = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(content.data()), content.size(), mac.data(),
           &bytes) == nullptr) {
    throw std::bad_alloc();
  }
  return io::to_base64({reinterpret_cast<const char*>(mac.data()), bytes});
}

}  // namespace

SigningKeys::~SigningKeys() {
  for (SecretText& key : keys) OPENSSL_cleanse(key.data(), key.size());
}

SigningKeysPtr parse_signing_keys(std::string_view text) {
  auto found = std::make_shared<SigningKeys>();
  for_each_line(text, [&](int number, std::string_view line) {
    std::optional<SecretText> key = key_of(line);
    if (!key) {
      throw io::TlsError(fmt::format(
          "line {} is not a key of {} to {} bytes, nor whsec_ and the base64 of one; make "
          "one with \"bellwether keygen --webhook\"",
          number, kMinKeyBytes, kMaxKeyBytes));
    }
    if (found->keys.size() == kMaxKeys) {
      throw io::TlsError(fmt::format("holds more than {} keys; take the oldest out", kMaxKeys));
    }
    found->keys.push_back(std::move(*key));
  });
  if (found->keys.empty()) {
    throw io::TlsError("holds no key; make one with \"bellwether keygen --webhook\"");
  }
  return found;
}

std::string make_signing_key() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw io::TlsError("OpenSSL has no random bytes: " + io::take_openssl_error());
  }
  return std::string(kPrefix) +
         io::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

io::HttpHeaders signature_headers(const SigningKeys& keys, const std::string& id, int64_t seconds,
                                  std::string_view body) {
  const std::string timestamp = std::to_string(seconds);
  const std::string content = fmt::format("{}.{}.{}", id, timestamp, body);
  std::string signatures;
  for (const SecretText& key : keys.keys) {
    signatures += (signatures.empty() ? "v1," : " v1,") + signature(key, content);
  }
  return {{"webhook-id", id}, {"webhook-timestamp", timestamp}, {"webhook-signature", signatures}};
}

}  // namespace bellwether::api
