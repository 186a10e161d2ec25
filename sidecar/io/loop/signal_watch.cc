// The handler that libuv installs only writes to a pipe; all else happens in the loop.
#include "io/loop/signal_watch.hh"

namespace bellwether {

SignalWatch::SignalWatch(Loop& loop, int signal, std::function<void()> on_signal)
    : on_signal_(std::move(on_signal)),
      handle_(make_handle<uv_signal_t>(
          this, [&](uv_signal_t* handle) { return uv_signal_init(loop.uv(), handle); })) {
  throw_if_failed(uv_signal_start(
                      handle_.get(),
                      [](uv_signal_t* handle, int) {
                        auto* watch = static_cast<SignalWatch*>(handle->data);
                        if (watch != nullptr) watch->on_signal_();
                      },
                      signal),
                  "cannot wait for a signal");
}

}  // namespace bellwether
