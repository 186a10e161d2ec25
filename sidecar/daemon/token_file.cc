// Only digests stay.
#include "daemon/token_file.hh"

#include <exception>

#include "api/authority.hh"
#include "io/tls/openssl.hh"

namespace bellwether::daemon {

TokenReading read_tokens(const std::string& path, io::Secrecy secrecy) {
  constexpr const char* kKey = "api.token_file";
  TokenReading reading;
  io::TlsTexts texts;
  try {
    texts.secret = io::read_guarded_file(path, kKey, secrecy);
  } catch (const std::exception& error) {
    reading.error = error.what();
    return reading;
  }
  try {
    reading.digests = api::parse_tokens(texts.secret);
  } catch (const io::TlsError& error) {
    reading.error = kKey + (" " + path + " ") + error.what();
  }
  return reading;
}

}  // namespace bellwether::daemon
