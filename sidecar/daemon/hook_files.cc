// A secret and certificates are one reading: an event is signed and sent with what was read
// together.
#include "daemon/hook_files.hh"

#include <array>
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
  const CertificateFiles files{.keys = path + ".",
                               .cert = hook.cert,
                               .key = hook.key,
                               .ca = hook.ca,
                               .is_folder_shared = hook.is_folder_shared};
  const std::string secret_key = path + ".secret_file";
  HookReading reading{.files = {}, .keys = last.keys};
  reading.files = read_tls(
      last.files,
      [&](io::TlsTexts& texts) {
        if (hook.is_https()) read_client_files(files, texts);
        if (!hook.secret_file.empty()) {
          texts.secret = io::read_guarded_file(hook.secret_file, secret_key,
                                               io::secret_in(hook.is_folder_shared));
        }
        const std::array<std::string_view, 4> parts{texts.cert, texts.key, texts.ca, texts.secret};
        return io::fingerprint(parts);
      },
      [&](const io::TlsTexts& texts, TlsReading& made) {
        if (hook.is_https()) made.tls = make_client_context(files, texts);
        if (hook.secret_file.empty()) return;
        reading.keys = keys_of(texts.secret, secret_key + " " + hook.secret_file);
      });
  return reading;
}

}  // namespace bellwether::daemon
