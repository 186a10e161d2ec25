// Dials one address, with a fresh socket each time, until somebody answers or it is told to stop.
#pragma once

#include <cstdint>

#include "core/link_limits.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/socket_address.hh"
#include "io/peers/dial_backoff.hh"

namespace bellwether::io {

class Dialler {
 public:
  // Called from the loop, never from within a call into the dialler.
  class Owner {
   public:
    virtual ~Owner() = default;
    // The dialler rests.
    virtual void on_connected(Dialler& dialler, UvPtr<uv_tcp_t> socket) = 0;
    // `error` is an errno: ECONNREFUSED, when that host says that nobody listens there (never when
    // the network says so), ETIMEDOUT, when nothing came back in time, or another.  The next try is
    // on its way.
    virtual void on_attempt_failed(Dialler& dialler, int error) = 0;
    // A wait is over, and it is known who would answer: then it waits again.
    virtual bool is_needless(const Dialler& /*dialler*/) { return false; }
  };

  // `limits` and `owner` must outlive the dialler; the owner may not destroy it in its calls, and
  // may change the limits.  `seed` spreads the waits of many.
  Dialler(Loop& loop, const SocketAddress& address, const LinkLimits& limits, Owner& owner,
          uint64_t seed);

  const SocketAddress& address() const { return address_; }
  bool is_resting() const { return state_ == State::kResting; }

  // Dials now, unless it is at it or waits for the next try.
  void start();
  // Dials after a wait, when what was dialled here has ended: before it was of use, because it was
  // rejected, or after it was of use for `lifetime` (then at once; see DialBackoff).
  void start_after_failure() { wait(backoff_.after_failure()); }
  void start_after_rejection() { wait(backoff_.after_rejection()); }
  void start_after_link(Duration lifetime);
  // Dials after this wait, whatever was to be done.
  void start_after(Duration duration) { wait(duration); }
  // If it waits for the next try, that is now.
  void hurry();
  void stop();
  // See DialBackoff.
  void set_longest_wait(Duration wait) { backoff_.set_longest_wait(wait); }

 private:
  enum class State : uint8_t { kResting, kWaiting, kConnecting };

  void wait(Duration duration);
  void dial();
  int connect();
  void on_due();
  void on_result(int status);

  Loop& loop_;
  SocketAddress address_;
  const LinkLimits& limits_;
  Owner& owner_;
  DialBackoff backoff_;
  State state_ = State::kResting;
  int early_error_ = 0;     // of a try that failed before it began
  DeadlineTimer due_;       // the wait, or the limit of a try
  UvPtr<uv_tcp_t> socket_;  // while connecting
};

}  // namespace bellwether::io
