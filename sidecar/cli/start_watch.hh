// A start that hangs.
//
// What a start opens (the configuration, keys, the plugin, the state, the flag) may lie on a disk
// that does not answer, and signals wait until the event loop takes them.  So somebody else has to
// say which file it is, and to end the process when it is told to.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace bellwether::cli {

// A thread that watches the one that made it, for as long as the object lives.  Signals have to be
// blocked before.  Where there is no thread to be had, nobody watches.
class StartWatch {
 public:
  StartWatch();
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  void watch();

  std::mutex mutex_;  // of is_over_
  std::condition_variable ends_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace bellwether::cli
