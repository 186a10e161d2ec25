// The terminal's other screen, as pagers use it: the user's own comes back when it is left.  Ctrl-Z
// leaves it, too, and `fg` comes back to it.
#pragma once

#include <csignal>

namespace bellwether::cli {

// One at a time in a process: the handler of SIGTSTP is the process's.
class OtherScreen {
 public:
  // Standard output must be a terminal.  Where SIGTSTP is ignored it stays so.
  OtherScreen();
  ~OtherScreen();
  OtherScreen(const OtherScreen&) = delete;
  OtherScreen& operator=(const OtherScreen&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace bellwether::cli
