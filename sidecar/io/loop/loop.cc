// Time and errors on the event loop; loop.hh has the idiom.
#include "io/loop/loop.hh"

#include <cctype>
#include <ctime>
#include <system_error>

#include "base/check.hh"

namespace bellwether::io {

void throw_if_failed(int status, const char* what) {
  if (status < 0) throw std::system_error(-status, std::generic_category(), what);
}

std::string error_text(int error) {
  std::string text = std::generic_category().message(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Loop::Loop() { throw_if_failed(uv_loop_init(&loop_), "cannot make an event loop"); }

Loop::~Loop() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  check(uv_loop_close(&loop_) == 0, "every handle is closed before its loop");
}

Instant Loop::now() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

SignalWatch::SignalWatch(Loop& loop, int signal, std::function<void()> on_signal)
    : on_signal_(std::move(on_signal)), handle_(make_handle(loop.uv(), this, uv_signal_init)) {
  throw_if_failed(uv_signal_start(
                      handle_.get(),
                      [](uv_signal_t* handle, int) {
                        auto* watch = static_cast<SignalWatch*>(handle->data);
                        if (watch != nullptr) watch->on_signal_();
                      },
                      signal),
                  "cannot wait for a signal");
}

}  // namespace bellwether::io
