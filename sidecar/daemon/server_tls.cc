// Two tables, one way.
#include "daemon/server_tls.hh"

#include <ctime>

namespace bellwether::daemon {
namespace {

template <typename Settings>
TlsReading read_server_tls(const char* keys, const Settings& settings, io::ClientCertificate wanted,
                           const TlsReading& last) {
  const CertificateFiles files{.keys = keys,
                               .cert = settings.cert,
                               .key = settings.key,
                               .ca = settings.client_ca,
                               .ca_key = "client_ca",
                               .is_folder_shared = settings.is_folder_shared};
  const auto read = [&](io::TlsTexts& texts) { read_files(files, texts); };
  const auto make = [&](const io::TlsTexts& texts, TlsReading& reading) {
    const io::CertificateSet set = io::parse_certificate_set(texts, files.labels());
    io::check_shown_certificate(set, X509_PURPOSE_SSL_SERVER, std::time(nullptr));
    reading.tls = io::TlsContext::of_http_server(set, wanted);
  };
  return read_tls(last, {.files = paths_of(files)}, read, make);
}

}  // namespace

TlsReading read_api_tls(const ApiSettings& settings, const TlsReading& last) {
  return read_server_tls("api.", settings, io::ClientCertificate::kOptional, last);
}

TlsReading read_metrics_tls(const MetricsSettings& settings, const TlsReading& last) {
  return read_server_tls("metrics.", settings, io::ClientCertificate::kRequired, last);
}

}  // namespace bellwether::daemon
