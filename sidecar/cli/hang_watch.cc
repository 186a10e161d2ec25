// Looks, now and then, at what hangs and whether the end is asked for.
#include "cli/hang_watch.hh"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/file_turn.hh"
#include "cli/exit_code.hh"

namespace bellwether::cli {
namespace {

constexpr std::chrono::milliseconds kInterval(100);
// How long a start that has been told to end may take to come to where it leaves in good order.
constexpr std::chrono::seconds kTimeToStart(5);

// They wait for the whole process, so looking takes none away.
bool is_end_asked_for() {
  sigset_t waiting;
  ::sigemptyset(&waiting);
  ::sigpending(&waiting);
  const auto waits = [&](int signal) { return ::sigismember(&waiting, signal) == 1; };
  return waits(SIGTERM) || waits(SIGINT) || waits(SIGQUIT) || waits(SIGABRT);
}

void say_line(const std::string& text) { write_to_stderr("bellwether: " + text + "\n"); }

}  // namespace

HangWatch::HangWatch(const char* doing, std::function<void()> before_end)
    : doing_(doing), before_end_(std::move(before_end)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Whoever lacks threads will hear of it from what cannot do without.
  }
}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void HangWatch::watch() {
  using std::chrono::steady_clock;
  std::string told;
  auto asked_at = steady_clock::time_point::max();
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, kInterval, [this] { return is_over_; })) {
    if (FileTurn::Place place = FileTurn::hanging(); !place.path.empty() && place.path != told) {
      say_line(doing_ + place.path + " keeps it waiting; " + place.remedy);
      told = std::move(place.path);
    }
    if (!is_end_asked_for()) continue;
    const auto now = steady_clock::now();
    if (asked_at == steady_clock::time_point::max()) asked_at = now;
    if (now - asked_at < kTimeToStart) continue;
    say_line("told to end before it had started");
    // Nothing was begun, so nothing is left undone.
    if (before_end_) before_end_();
    ::_exit(static_cast<int>(ExitCode::kOk));
  }
}

}  // namespace bellwether::cli
