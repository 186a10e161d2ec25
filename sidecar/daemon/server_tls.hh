// The certificate of one address that serves HTTP.
#pragma once

#include "config/config.hh"
#include "daemon/tls_reading.hh"

namespace bellwether::daemon {

// Of [api], where a client may lack a certificate: it can look.  And of [metrics], where it must
// have one if client_ca is given.  `settings` have a certificate.  Block; throw nothing.
TlsReading read_api_tls(const ApiSettings& settings, const TlsReading& last = {});
TlsReading read_metrics_tls(const MetricsSettings& settings, const TlsReading& last = {});

}  // namespace bellwether::daemon
