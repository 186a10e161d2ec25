// What keeps progress bearable: how soon, how often, and how wide it is written.
#include "cli/progress.hh"

#include <unistd.h>

#include <iostream>

#include "cli/styled_text.hh"

namespace bellwether::cli {
namespace {

constexpr auto kFirstSilence = std::chrono::seconds(1);
constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kLogInterval = std::chrono::seconds(3);
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress()
    : is_terminal_(isatty(STDERR_FILENO) == 1), next_at_(Clock::now() + kFirstSilence) {}

void Progress::tell(std::string_view what) {
  const Clock::time_point now = Clock::now();
  if (now < next_at_) return;
  if (is_terminal_) {
    next_at_ = now + kTerminalInterval;
    is_shown_ = true;
    // A line that wraps could not be rewritten.
    const size_t width = screen_size(STDERR_FILENO).columns;
    std::cerr << kEraseLine << what.substr(0, width - 1) << std::flush;
  } else {
    next_at_ = now + kLogInterval;
    std::cerr << what << std::endl;
  }
}

void Progress::clear() {
  if (is_shown_) std::cerr << kEraseLine << std::flush;
  is_shown_ = false;
}

}  // namespace bellwether::cli
