// Two timers on the event loop; both have libuv's grain of one millisecond and are never early.
#pragma once

#include <functional>

#include "io/loop/loop.hh"

namespace bellwether::io {

// Calls once, some time after it was armed.
class LoopTimer {
 public:
  LoopTimer(Loop& loop, std::function<void()> on_due);

  // Replaces what was armed before.
  void arm(Duration after);
  void disarm() { uv_timer_stop(handle_.get()); }
  bool is_armed() const {
    return uv_is_active(reinterpret_cast<const uv_handle_t*>(handle_.get()));
  }

 private:
  std::function<void()> on_due_;
  UvPtr<uv_timer_t> handle_;
};

// Calls once, at or after a deadline, and only when everything that has arrived by then has been
// read.  A process that was stopped finds its timers due and its sockets full when it goes on;
// taken in that order, what others did in time would look late.
class DeadlineTimer {
 public:
  DeadlineTimer(Loop& loop, std::function<void()> on_due);

  // Replaces what was armed before; kNever disarms.
  void arm(Instant deadline);

 private:
  void judge();

  std::function<void()> on_due_;
  Instant deadline_ = kNever;
  UvPtr<uv_timer_t> timer_;  // only says that it may be time
  UvPtr<uv_idle_t> idle_;    // while active, the loop polls without waiting
  UvPtr<uv_check_t> judge_;  // runs after the poll
};

}  // namespace bellwether::io
