// The certificate of one address that serves HTTP, read again when its files change.
#pragma once

#include <functional>
#include <string>

#include "config/config.hh"
#include "daemon/reread.hh"
#include "daemon/tls_reading.hh"

namespace bellwether::daemon {

// Of [api], where a client may lack a certificate: it can look.  And of [metrics], where it must
// have one if client_ca is given.  `settings` have a certificate.  Block; throw nothing.
TlsReading read_api_tls(const ApiSettings& settings, const TlsReading& last = {});
TlsReading read_metrics_tls(const MetricsSettings& settings, const TlsReading& last = {});

class ServerTls {
 public:
  using Read = Reread<TlsReading>::Read;

  // Reads the files at once, which blocks.  Calls `on_change` from the loop when something that the
  // functions below tell has changed.
  ServerTls(io::Loop& loop, const Read& read, std::function<void()> on_change);

  // What is in force; nullptr until the files have been of use for the first time.
  const io::TlsContextPtr& in_force() const { return in_force_; }
  // Why the files as they are now are not in force; "": they are.
  const std::string& flaw() const { return flaw_; }

 private:
  ServerTls(io::Loop& loop, const Read& read, std::function<void()> on_change,
            const TlsReading& first);
  void take(const TlsReading& reading);

  std::function<void()> on_change_;
  io::TlsContextPtr in_force_;  // with all connections that were made with it
  std::string flaw_;
  Reread<TlsReading> files_;
};

}  // namespace bellwether::daemon
