// By the functions that know no lines.
#include "io/tls/base64.hh"

#include <openssl/evp.h>

namespace bellwether::io {

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int count = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                    reinterpret_cast<const unsigned char*>(bytes.data()),
                                    static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(count));
  return text;
}

std::optional<SecretText> from_base64(std::string_view text) {
  SecretText padded(text.substr(0, text.find('=')));
  if (text.size() - padded.size() > 2 || padded.size() % 4 == 1) return std::nullopt;
  const size_t bytes = padded.size() * 3 / 4;
  padded.append((4 - padded.size() % 4) % 4, '=');
  SecretText decoded(padded.size() / 4 * 3 + 1, '\0');
  const int count = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                                    reinterpret_cast<const unsigned char*>(padded.data()),
                                    static_cast<int>(padded.size()));
  if (count < 0) return std::nullopt;
  decoded.resize(bytes);
  return decoded;
}

}  // namespace bellwether::io
