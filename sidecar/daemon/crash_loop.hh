// A process that ends soon after each of its starts.
//
// Whoever starts it again every second fills the journal, and whoever counts restarts without an
// end is slow after the tenth crash of a year.  So the sidecar counts its own short lives, and
// waits ever longer before the next one: Kubernetes does that by itself, and systemd not before
// 254.
#pragma once

#include <filesystem>

#include "base/clock.hh"

namespace bellwether::daemon {

// A life of less than this is a short one.
inline constexpr Duration kShortLife = std::chrono::minutes(1);
inline constexpr Duration kLongestWaitForLife = std::chrono::minutes(1);

class CrashLoop {
 public:
  // `folder` outlives the process, and not the machine's boot; "": nothing is counted, and nobody
  // waits.  What cannot be read or written counts as nothing.
  explicit CrashLoop(const std::filesystem::path& folder);
  // The first of RUNTIME_DIRECTORY, which systemd sets.
  static std::filesystem::path usual_folder();

  struct Life {
    unsigned short_ones_before = 0;  // one after the other
    Duration wait{};                 // before it begins
  };
  // Once, and first of all; `now` is of the clock that counts from the boot.
  Life begin(Instant now) const;
  // This one was not cut short, whatever its length: its end was wanted, or another start is not
  // the next thing to do.
  void forget() const;

 private:
  std::filesystem::path file_;  // empty: none
};

}  // namespace bellwether::daemon
