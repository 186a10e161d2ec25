// What [tls] names, as the connections between members use it: read, judged, made into a context,
// and again when it has changed on the disk.
//
// Files come in any order: a helper writes certificate, key and authorities one after the other,
// another one renames them, a volume swaps a link to all.  So a set is taken when two readings of
// it are the same, and when it fits together; else the one before stays in force.
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/config.hh"
#include "daemon/reread.hh"
#include "io/peers/link_security.hh"

namespace bellwether::daemon {

// One reading of the files.  Equal ones have the same bytes, and the same to complain of.
struct TlsReading {
  std::string fingerprint;  // of all bytes that were read, and of the settings
  std::string error{};      // why they are of no use: names key and file, never what is in it
  io::TlsContextPtr tls{};  // with connections; nullptr: off, or an error
  // With [voters]: the names of a certificate that could be that of each; empty: it tells them
  // apart, or there is none.
  std::string cannot_tell_voters_apart{};

  friend bool operator==(const TlsReading& one, const TlsReading& other) {
    return one.fingerprint == other.fingerprint && one.error == other.error;
  }
};

// Reads and judges them.  `last`: what the same files came to the last time; if their bytes are the
// same it is returned.  Blocks; throws nothing.
TlsReading read_member_tls(const Config& config, const TlsReading& last = {});

class MemberTls {
 public:
  // Reads the files at once, which blocks.  Calls `on_change` from the loop when something that the
  // functions below tell has changed.
  MemberTls(io::Loop& loop, const Config& config, std::function<void()> on_change);

  // The configuration is another one now: its files are read soon.
  void configure(const Config& config);

  // What is in force; nothing until the files have been of use for the first time.
  const std::optional<io::LinkSecurity>& in_force() const { return in_force_; }
  // Why what is configured is not in force; "": it is.
  const std::string& flaw() const { return flaw_; }

 private:
  void take(const TlsReading& reading);

  std::shared_ptr<const Config> config_;  // shared with a reading that runs
  std::function<void()> on_change_;
  std::optional<io::LinkSecurity> in_force_;
  std::string flaw_;
  Reread<TlsReading> files_;
};

}  // namespace bellwether::daemon
