// Waiting, the process is alive, and systemd has to know: its patience may be shorter than the
// wait.
#include "cli/start_turn.hh"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>

#include "base/duration_text.hh"
#include "cli/exit_code.hh"
#include "cli/hang_watch.hh"
#include "daemon/systemd.hh"
#include "io/loop/loop.hh"

namespace bellwether::cli {
namespace {

// How long systemd is asked to wait for a start once the wait before it is over, if it has not more
// patience by itself.
constexpr std::chrono::seconds kPatienceAfterWait(30);

daemon::CrashLoop usual_loop() {
  const HangWatch watch("cannot start yet: ");
  return daemon::CrashLoop(daemon::CrashLoop::usual_folder());
}

// False as soon as the end is asked for, by whatever signal: one that waited for the end of the
// wait would end a start that has just begun.
bool has_slept(Duration wait, const daemon::Systemd& systemd) {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGABRT}) ::sigaddset(&ends, signal);
  const Instant over_at = io::Loop::now() + wait;
  for (Duration left = wait; left > Duration::zero(); left = over_at - io::Loop::now()) {
    systemd.tell("WATCHDOG=1");
    const Duration piece = std::min(left, systemd.watchdog_interval().value_or(left));
    const auto whole = std::chrono::floor<std::chrono::seconds>(piece);
    const timespec time{.tv_sec = whole.count(), .tv_nsec = (piece - whole).count()};
    if (::sigtimedwait(&ends, nullptr, &time) >= 0) return false;
  }
  return true;
}

// Says that it waits; false as above.
bool has_waited(unsigned starts, Duration wait) {
  const daemon::Systemd systemd;
  const std::string words = fmt::format(
      "has been started {}{} times, each time soon after the last; waits {} before it starts "
      "again (SIGTERM ends the wait, and then the next start is made at once)",
      starts == daemon::CrashLoop::kMostCounted ? "at least " : "", starts, duration_text(wait));
  write_to_stderr("bellwether: " + words + "\n");
  const auto patience = std::chrono::floor<std::chrono::microseconds>(wait + kPatienceAfterWait);
  systemd.tell(fmt::format("EXTEND_TIMEOUT_USEC={}\nSTATUS={}", patience.count(), words));
  const bool goes_on = has_slept(wait, systemd);
  systemd.tell(goes_on ? "STATUS=starting" : "STOPPING=1\nSTATUS=");
  return goes_on;
}

}  // namespace

StartTurn::StartTurn() : loop_(usual_loop()) {}

bool StartTurn::comes() const {
  const unsigned starts = loop_.quick_starts(io::Loop::now());
  const Duration wait = daemon::CrashLoop::wait_after(starts);
  if (wait > Duration::zero() && !has_waited(starts, wait)) {
    loop_.forget();
    return false;
  }
  loop_.begin(starts, io::Loop::now());
  return true;
}

}  // namespace bellwether::cli
