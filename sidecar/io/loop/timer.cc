// DeadlineTimer needs three handles: the timer wakes the loop, the idle handle keeps it from
// waiting in the poll that follows, and the check handle runs when that poll is over.
#include "io/loop/timer.hh"

#include <chrono>

namespace bellwether::io {
namespace {

// The timeout, in milliseconds, with which libuv calls as soon as `after` has passed, but not
// before.  libuv adds it to the time at which the loop last looked at the clock, without the
// fraction of a millisecond: counted from there, a call could be early by as much.
uint64_t timeout_ms(uv_loop_t* loop, Duration after) {
  if (after <= Duration::zero()) return 0;
  uv_update_time(loop);
  const auto due = std::chrono::nanoseconds(uv_hrtime()) + after;
  const auto due_ms = std::chrono::ceil<std::chrono::milliseconds>(due).count();
  return static_cast<uint64_t>(due_ms) - uv_now(loop);
}

}  // namespace

LoopTimer::LoopTimer(Loop& loop, std::function<void()> on_due)
    : on_due_(std::move(on_due)), handle_(make_handle(loop.uv(), this, uv_timer_init)) {}

void LoopTimer::arm(Duration after) {
  uv_timer_start(
      handle_.get(), [](uv_timer_t* timer) { static_cast<LoopTimer*>(timer->data)->on_due_(); },
      timeout_ms(handle_->loop, after), 0);
}

DeadlineTimer::DeadlineTimer(Loop& loop, std::function<void()> on_due)
    : on_due_(std::move(on_due)),
      timer_(make_handle(loop.uv(), this, uv_timer_init)),
      idle_(make_handle(loop.uv(), this, uv_idle_init)),
      judge_(make_handle(loop.uv(), this, uv_check_init)) {}

void DeadlineTimer::arm(Instant deadline) {
  if (deadline == deadline_ && deadline != kNever) return;
  deadline_ = deadline;
  uv_idle_stop(idle_.get());
  uv_check_stop(judge_.get());
  uv_timer_stop(timer_.get());
  if (deadline == kNever) return;
  uv_timer_start(
      timer_.get(),
      [](uv_timer_t* timer) {
        auto& self = *static_cast<DeadlineTimer*>(timer->data);
        uv_idle_start(self.idle_.get(), [](uv_idle_t*) {});
        uv_check_start(self.judge_.get(), [](uv_check_t* judge) {
          static_cast<DeadlineTimer*>(judge->data)->judge();
        });
      },
      timeout_ms(timer_->loop, deadline - Loop::now()), 0);
}

void DeadlineTimer::judge() {
  const Instant deadline = deadline_;
  arm(kNever);
  if (Loop::now() < deadline) return arm(deadline);
  on_due_();
}

}  // namespace bellwether::io
