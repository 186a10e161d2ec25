// A signal as an event of the loop.
#pragma once

#include <functional>

#include "io/loop/loop.hh"

namespace bellwether {

class SignalWatch {
 public:
  // Calls for each time that the process gets the signal (several at once may count as one).
  SignalWatch(Loop& loop, int signal, std::function<void()> on_signal);

 private:
  std::function<void()> on_signal_;
  UvPtr<uv_signal_t> handle_;
};

}  // namespace bellwether
