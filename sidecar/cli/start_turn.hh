// When a start begins: at once, or, in a crash loop, after a wait (daemon/crash_loop.hh).
#pragma once

#include <string>

#include "daemon/crash_loop.hh"

namespace bellwether::cli {

class StartTurn {
 public:
  // Of a sidecar with this configuration.  All signals are blocked, here and while it waits.  Says
  // which file it is when that of the count does not answer, or cannot be used.
  explicit StartTurn(const std::string& config_file);

  // Waits for it, and says so.  False as soon as the end is asked for meanwhile; the next start is
  // made at once then.
  bool comes() const;
  // Somebody asked for the end of this one.
  void forget() const { loop_.forget(); }

 private:
  const daemon::CrashLoop loop_;
};

}  // namespace bellwether::cli
