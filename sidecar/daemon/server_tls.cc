// Two tables, one way.
#include "daemon/server_tls.hh"

namespace bellwether::daemon {
namespace {

template <typename Settings>
CertificateFiles files_of(const char* keys, const Settings& settings) {
  return {.keys = keys,
          .cert = settings.cert,
          .key = settings.key,
          .ca = settings.client_ca,
          .ca_key = "client_ca",
          .is_folder_shared = settings.is_folder_shared};
}

}  // namespace

TlsReading read_api_tls(const ApiSettings& settings, const TlsReading& last) {
  return read_server_tls(files_of("api.", settings), io::ClientCertificate::kOptional, last);
}

TlsReading read_metrics_tls(const MetricsSettings& settings, const TlsReading& last) {
  return read_server_tls(files_of("metrics.", settings), io::ClientCertificate::kRequired, last);
}

}  // namespace bellwether::daemon
