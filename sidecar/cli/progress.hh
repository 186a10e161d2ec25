// Tells people who wait what is being done; silent for the first second, so that short runs stay
// quiet.  On a terminal one line is rewritten, elsewhere a line is added now and then.
#pragma once

#include <chrono>
#include <string_view>

namespace bellwether::cli {

class Progress {
 public:
  // Writes to stderr.
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // May be called as often as one likes; most calls do nothing.
  void tell(std::string_view what);

  // Removes the line from the terminal; call it before anything else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_terminal_;
  bool is_shown_ = false;
  Clock::time_point next_at_;
};

}  // namespace bellwether::cli
