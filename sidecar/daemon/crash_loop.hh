// A start that follows soon after the one before, again and again: the disk is full, an address is
// taken, or the process ends as soon as it runs.
//
// Whoever starts it again every second fills the journal.  So from the fourth such start on the
// sidecar waits, ever longer, before it begins: Kubernetes does that by itself, and systemd not
// before 254, and then for good after some restarts in a year.
#pragma once

#include <filesystem>
#include <string>

#include "base/clock.hh"
#include "io/loop/files.hh"

namespace bellwether::daemon {

// What comes later than this after the start before, and than the wait that is due, is no loop: a
// sidecar that works for a while before it ends is worth its start at once.  One that ends whenever
// it leads is not, and by default it takes over after 5 s (election.preempt_delay).
inline constexpr Duration kSoonAfterStart = std::chrono::seconds(10);
// Other units may wait for this one's start.
inline constexpr Duration kLongestWaitToStart = std::chrono::seconds(16);

class CrashLoop {
 public:
  // More are as many.
  static constexpr unsigned kMostCounted = 16;

  // Counts in a file of `folder`, which outlives the process and not the machine's boot; it has the
  // name of `config_file`, for sidecars may share the folder; those whose files have the same name
  // count each other's starts.  Nothing is counted, and nobody waits, where there is no folder ("")
  // or it cannot be used.
  CrashLoop(const std::filesystem::path& folder, const std::filesystem::path& config_file);
  // Why it cannot be used, if there is one; else "".
  const std::string& flaw() const { return flaw_; }
  // The first of RUNTIME_DIRECTORY, which systemd sets.
  static std::filesystem::path usual_folder();

  struct Turn {
    unsigned quick_starts = 0;  // before this one, each soon after the last
    Duration wait{};            // until this one may begin
  };
  // Of a start at `now`, of the clock that counts from the boot.
  Turn turn(Instant now) const;
  // This one begins.
  void begin(unsigned quick_starts, Instant now) const;
  // However soon the next one comes, somebody wants it.
  void forget() const;

 private:
  io::FileDescriptor file_;
  std::string flaw_;
};

}  // namespace bellwether::daemon
