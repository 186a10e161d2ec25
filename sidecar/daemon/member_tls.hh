// What [tls] names, as the connections between members use it: read again when it changes
// (tls_reading.hh).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config/config.hh"
#include "daemon/tls_files.hh"
#include "daemon/tls_reading.hh"
#include "io/peers/link_security.hh"

namespace bellwether::daemon {

// Reads and judges them.  `last`: what they came to the last time, which is returned while nothing
// has changed.  Blocks; throws nothing.
TlsReading read_member_tls(const Config& config, const TlsReading& last = {});

class MemberTls {
 public:
  // Reads the files at once, which blocks.  Calls `on_change` from the loop when something that the
  // functions below tell has changed.
  MemberTls(io::Loop& loop, const Config& config, std::function<void()> on_change);

  // The configuration may be another one now: then its files are read soon.  `voters` that wait for
  // a restart are members already: others, which have restarted, may name them in [voters] alone.
  void configure(const Config& config, const std::map<std::string, HostPort>& voters);

  // What is in force; nothing until the files have been of use for the first time.
  std::optional<io::LinkSecurity> in_force() const;
  // Why what is configured is not in force; "": it is.
  const std::string& flaw() const { return files_.flaw(); }

 private:
  std::shared_ptr<const Config> config_;  // shared with a reading that runs
  TlsFiles files_;
};

}  // namespace bellwether::daemon
