// Written past std::cout, because a signal's handler must; what stood there is flushed before.
#include "cli/other_screen.hh"

#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string_view>

namespace bellwether::cli {
namespace {

// With the cursor hidden, and shown again.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

// A terminal that takes nothing any more is found out by who draws on it.
void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
}

void on_suspend(int signal);

// For one signal; the next one does what it does by default.
void catch_suspend() {
  struct sigaction action {};
  action.sa_handler = on_suspend;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_RESTART);
  ::sigaction(SIGTSTP, &action, nullptr);
}

void on_suspend(int signal) {
  const int error = errno;
  say(kLeave);
  ::raise(signal);  // the process is stopped in here
  catch_suspend();
  say(kEnter);
  errno = error;
}

}  // namespace

OtherScreen::OtherScreen() {
  std::cout.flush();
  say(kEnter);
  ::sigaction(SIGTSTP, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) catch_suspend();
}

OtherScreen::~OtherScreen() {
  ::sigaction(SIGTSTP, &before_, nullptr);
  std::cout.flush();
  say(kLeave);
}

}  // namespace bellwether::cli
