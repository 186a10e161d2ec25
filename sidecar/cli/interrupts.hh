// Ctrl-C and TERM as something to read from, so that a wait can be ended without a race.
#pragma once

#include <csignal>

#include "io/loop/file_descriptor.hh"

namespace bellwether::cli {

class Interrupts {
 public:
  // From now on, until its end, both signals only make fd() readable.  Throws std::system_error.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int fd() const { return fd_.get(); }

 private:
  sigset_t before_{};
  FileDescriptor fd_;
};

}  // namespace bellwether::cli
