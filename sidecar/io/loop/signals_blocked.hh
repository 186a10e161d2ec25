// Signals are the event loop's: threads and processes that are started for other work take none.
#pragma once

#include <pthread.h>

#include <csignal>

namespace bellwether::io {

// All but SIGBUS, which is not sent but comes of what a thread does (rescued_page.hh): the kernel
// ends a process that blocks it then.
inline sigset_t blockable_signals() {
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigdelset(&signals, SIGBUS);
  return signals;
}

// While it lives, the calling thread takes no signals, nor do threads and processes that it starts.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    const sigset_t all = blockable_signals();
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// From now on the calling thread takes no signals: they wait.
inline void block_signals() {
  const sigset_t all = blockable_signals();
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// While it lives, the calling thread takes signals, also those that have waited.
class SignalsTaken {
 public:
  SignalsTaken() {
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  }
  ~SignalsTaken() { block_signals(); }
  SignalsTaken(const SignalsTaken&) = delete;
  SignalsTaken& operator=(const SignalsTaken&) = delete;
};

// While it lives, a write to a connection that the other side has closed fails (EPIPE), and does
// not end the process.
class BrokenPipesIgnored {
 public:
  BrokenPipesIgnored() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignored, &before_);
  }
  ~BrokenPipesIgnored() { ::sigaction(SIGPIPE, &before_, nullptr); }
  BrokenPipesIgnored(const BrokenPipesIgnored&) = delete;
  BrokenPipesIgnored& operator=(const BrokenPipesIgnored&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace bellwether::io
