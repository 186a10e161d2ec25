// Waiting, the process is alive, and systemd has to know: its patience, and that of its watchdog,
// may be shorter than the wait.
#include "cli/start_turn.hh"

#include <fmt/core.h>

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

// How long the start itself may take once the wait before it is over: as long as systemd gives to
// one that has not waited.
constexpr std::chrono::seconds kStartAfterWait(90);

daemon::CrashLoop usual_loop(const std::string& config_file) {
  const HangWatch watch("cannot start yet: ");
  return daemon::CrashLoop(daemon::CrashLoop::usual_folder(), config_file);
}

// False as soon as the end is asked for; what waited for the end of the wait would end a start that
// has just begun.  A process that is stopped, and then continued, waits for the rest.
bool has_slept(Duration wait) {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGABRT}) ::sigaddset(&ends, signal);
  const Instant end = io::Loop::now() + wait;
  for (Duration left = wait; left > Duration::zero(); left = end - io::Loop::now()) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(left);
    const timespec time{.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
    if (::sigtimedwait(&ends, nullptr, &time) > 0) return false;
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
  systemd.ask_for(wait + kStartAfterWait);
  systemd.tell("STATUS=" + words);
  const bool goes_on = has_slept(wait);
  systemd.tell(goes_on ? "STATUS=starting" : "STOPPING=1\nSTATUS=");
  return goes_on;
}

}  // namespace

StartTurn::StartTurn(const std::string& config_file) : loop_(usual_loop(config_file)) {
  if (loop_.flaw().empty()) return;
  write_to_stderr("bellwether: starts are not counted, so a crash loop will not be slowed: " +
                  loop_.flaw() + "\n");
}

bool StartTurn::comes() const {
  const daemon::CrashLoop::Turn turn = loop_.turn(io::Loop::now());
  if (turn.wait > Duration::zero() && !has_waited(turn.quick_starts, turn.wait)) {
    loop_.forget();
    return false;
  }
  loop_.begin(turn.quick_starts, io::Loop::now());
  return true;
}

}  // namespace bellwether::cli
