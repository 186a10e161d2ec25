// Threads for jobs that may hang, of which one stays for the next job: what is read each second
// would otherwise make a thread each time, which takes longer than what is read.
#pragma once

#include <functional>
#include <memory>

namespace bellwether::io {

class SpareThread {
 public:
  SpareThread();
  // Waits for no job.
  ~SpareThread();
  SpareThread(const SpareThread&) = delete;
  SpareThread& operator=(const SpareThread&) = delete;

  // Runs `job`, which throws nothing, on the thread that is spare, or on a new one, which takes no
  // signals.  Throws std::system_error when there is none.
  void run(std::function<void()> job);

 private:
  struct Place;

  std::shared_ptr<Place> place_;  // where the spare one waits; shared with all that run
};

}  // namespace bellwether::io
