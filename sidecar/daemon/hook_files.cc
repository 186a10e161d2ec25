// A secret and certificates are one reading: an event is signed and sent with what was read
// together.
#include "daemon/hook_files.hh"

#include <string_view>

#include "io/tls/openssl.hh"

namespace bellwether::daemon {
namespace {

api::SigningKeysPtr keys_of(std::string_view text, const std::string& file) {
  try {
    return api::parse_signing_keys(text);
  } catch (const io::TlsError& error) {
    throw io::TlsError(file + " " + error.what());
  }
}

}  // namespace

HookReading read_hook_files(const HookSettings& hook, const std::string& path,
                            const HookReading& last) {
  const ClientFiles files{.certificates = {.keys = path + ".",
                                           .cert = hook.cert,
                                           .key = hook.key,
                                           .ca = hook.ca,
                                           .is_folder_shared = hook.is_folder_shared},
                          .is_https = hook.is_https(),
                          .secret_key = path + ".secret_file",
                          .secret = hook.secret_file,
                          .secrecy = io::secret_in(hook.is_folder_shared)};
  HookReading reading{.files = {}, .keys = last.keys};
  reading.files = read_client_tls(files, last.files, [&](std::string_view text) {
    reading.keys = keys_of(text, files.secret_key + " " + files.secret);
  });
  return reading;
}

}  // namespace bellwether::daemon
