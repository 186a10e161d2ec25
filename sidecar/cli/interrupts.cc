// signalfd(2).
#include "cli/interrupts.hh"

#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace bellwether::cli {

Interrupts::Interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  fd_ = FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_.is_open()) {
    throw std::system_error(errno, std::generic_category(), "cannot wait for signals");
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

// What came is dropped: it has been acted upon, and would end the process before it is done.
Interrupts::~Interrupts() {
  signalfd_siginfo signal{};
  while (::read(fd_.get(), &signal, sizeof signal) > 0) continue;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace bellwether::cli
