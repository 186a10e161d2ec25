// A command that hangs.
//
// What it opens (the configuration, keys, the plugin, the state, the flag) may lie on a disk that
// does not answer, and at the sidecar's start signals wait until the event loop takes them.  So
// somebody else has to say which file it is, and to end the process when it is told to.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace bellwether::cli {

// A thread that watches the one that made it, for as long as the object lives.  Where there is no
// thread to be had, nobody watches.
class HangWatch {
 public:
  // `doing`: how its lines begin.  `before_end`: in its own thread, when it ends the process.
  explicit HangWatch(const char* doing = "cannot go on: ", std::function<void()> before_end = {});
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  void watch();

  const std::string doing_;
  const std::function<void()> before_end_;
  std::mutex mutex_;  // of is_over_
  std::condition_variable ends_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace bellwether::cli
