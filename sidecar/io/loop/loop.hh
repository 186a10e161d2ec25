// The event loop, and how this program owns libuv's handles.
//
// A handle must stay in memory until libuv has closed it, which takes a turn of the loop.  So every
// handle lies on the heap behind a UvPtr: letting go of it closes it, and its memory is freed when
// that is done.  Whoever has callbacks on a handle keeps it as its last member, so that it goes
// first; `data` is cleared at once, and a callback that finds no `data` has nobody to call.  A
// callback never destroys its own owner, and nothing may throw out of one.
#pragma once

#include <uv.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hh"
#include "io/loop/loop.hh"

namespace bellwether::io {

// Closes a libuv handle, and frees it when libuv has let go of it.
struct CloseHandle {
  template <typename Handle>
  void operator()(Handle* handle) const {
    handle->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
  }
};

// A handle that libuv has initialised.
template <typename Handle>
using UvPtr = std::unique_ptr<Handle, CloseHandle>;

// Throws std::system_error with libuv's text when `status` is negative; `what` names the attempt.
void throw_if_failed(int status, const char* what);

// What an errno means, as a phrase: "connection refused".
std::string error_text(int error);

// One handle, initialised by `init(handle)` (say, a call of uv_tcp_init); `owner` becomes its data.
// Throws std::system_error.
template <typename Handle, typename Init>
UvPtr<Handle> make_handle(void* owner, Init&& init) {
  auto handle = std::make_unique<Handle>();
  throw_if_failed(init(handle.get()), "cannot make a libuv handle");
  handle->data = owner;
  return UvPtr<Handle>(handle.release());
}

class Loop {
 public:
  Loop();
  // Runs the loop until all handles that their owners have let go of are closed.  A handle that is
  // still owned then is a bug (check()).
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  uv_loop_t* uv() { return &loop_; }

  // Until stop(), or until nothing is left to wait for.
  void run();
  void stop() { uv_stop(&loop_); }

  // How many jobs have a thread of their own (job.hh).
  size_t& threads() { return threads_; }

  // CLOCK_BOOTTIME, read anew: it goes on while the machine is suspended, as others' clocks do.
  static Instant now();

 private:
  uv_loop_t loop_{};
  size_t threads_ = 0;
};

// A signal as an event of the loop.
class SignalWatch {
 public:
  // Calls for each time that the process gets the signal (several at once may count as one).
  SignalWatch(Loop& loop, int signal, std::function<void()> on_signal);

 private:
  std::function<void()> on_signal_;
  UvPtr<uv_signal_t> handle_;
};

}  // namespace bellwether::io
