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
#include <type_traits>

#include "base/clock.hh"
#include "io/loop/job_threads.hh"

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

// One handle, initialised by `init(loop, handle, more...)`, say uv_tcp_init; `owner` becomes its
// data.  Throws std::system_error.
template <typename Handle, typename... More>
UvPtr<Handle> make_handle(uv_loop_t* loop, void* owner, int (*init)(uv_loop_t*, Handle*, More...),
                          std::type_identity_t<More>... more) {
  auto handle = std::make_unique<Handle>();
  throw_if_failed(init(loop, handle.get(), more...), "cannot make a libuv handle");
  handle->data = owner;
  return UvPtr<Handle>(handle.release());
}

// The descriptor that a handle is about; -1 when it has none yet.
template <typename Handle>
int descriptor_of(const Handle& handle) {
  uv_os_fd_t fd = -1;
  uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle), &fd);
  return fd;
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
  void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
  void stop() { uv_stop(&loop_); }

  // How many jobs have a thread of their own (job.hh), and where they get it.
  size_t& threads() { return threads_; }
  JobThreads& job_threads() { return job_threads_; }

  // CLOCK_BOOTTIME, read anew: it goes on while the machine is suspended, as others' clocks do.
  static Instant now();

 private:
  uv_loop_t loop_{};
  size_t threads_ = 0;
  JobThreads job_threads_;
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
