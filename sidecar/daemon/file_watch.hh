// What the log says of a file that is to be found at its path: one line when somebody has taken it
// away, and one when it is back after it could not be made again.
#pragma once

#include <string>

#include "daemon/log.hh"
#include "io/loop/files.hh"

namespace bellwether::daemon {

class FileWatch {
 public:
  // `what`: as in "the flag's file".  `log` must outlive it.
  FileWatch(Log& log, std::string what, std::string path);

  // True when it was lost since the time before.  `made_good` and `not_made_good`: what follows
  // from that, for people; the latter before the reason.
  bool on_look(FileLook look, const std::string& made_good, const std::string& not_made_good);

  // Why it is not there; empty: it is.
  const std::string& flaw() const { return flaw_; }

 private:
  Log& log_;
  std::string what_;
  std::string path_;
  std::string flaw_{};
};

}  // namespace bellwether::daemon
