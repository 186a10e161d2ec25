// The phrases of OpenSSL's errors.
#include "io/tls/openssl.hh"

#include <openssl/err.h>

#include <new>

namespace bellwether::io {

std::string take_openssl_error() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "";
  const char* reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "error " + std::to_string(ERR_GET_REASON(error));
}

BioPtr reader_of(std::string_view text) {
  BioPtr reader(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (reader == nullptr) throw std::bad_alloc();
  return reader;
}

}  // namespace bellwether::io
