// A pipe that says it can be written to takes PIPE_BUF bytes without blocking.
#include "cli/exit_code.hh"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace bellwether::cli {
namespace {

constexpr int kPatienceMs = 1000;

}  // namespace

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    pollfd has_room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&has_room, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    const ssize_t count =
        ::write(STDERR_FILENO, text.data(), std::min(text.size(), size_t{PIPE_BUF}));
    if (count < 0 && errno != EINTR && errno != EAGAIN) return;
    text.remove_prefix(static_cast<size_t>(std::max(count, ssize_t{0})));
  }
}

}  // namespace bellwether::cli
