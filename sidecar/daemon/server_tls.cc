// Two tables, one way.
#include "daemon/server_tls.hh"

#include <utility>

namespace bellwether::daemon {

TlsReading read_api_tls(const ApiSettings& settings, const TlsReading& last) {
  return read_server_tls({.keys = "api.",
                          .cert = settings.cert,
                          .key = settings.key,
                          .ca = settings.client_ca,
                          .ca_key = "client_ca"},
                         io::ClientCertificate::kOptional, last);
}

TlsReading read_metrics_tls(const MetricsSettings& settings, const TlsReading& last) {
  return read_server_tls({.keys = "metrics.",
                          .cert = settings.cert,
                          .key = settings.key,
                          .ca = settings.client_ca,
                          .ca_key = "client_ca"},
                         io::ClientCertificate::kRequired, last);
}

ServerTls::ServerTls(io::Loop& loop, const Read& read, std::function<void()> on_change)
    : ServerTls(loop, read, std::move(on_change), read({})) {}

ServerTls::ServerTls(io::Loop& loop, const Read& read, std::function<void()> on_change,
                     const TlsReading& first)
    : on_change_(std::move(on_change)),
      files_(loop, first, read, files_without_answer, [this](const TlsReading& reading) {
        take(reading);
        on_change_();
      }) {
  take(first);
}

void ServerTls::take(const TlsReading& reading) {
  flaw_ = reading.error;
  if (flaw_.empty()) in_force_ = reading.tls;
}

}  // namespace bellwether::daemon
