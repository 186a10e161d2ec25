// Threads for jobs that may hang, of which one stays for the next job: what is read each second
// would otherwise make a thread each time, which takes longer than what is read.  Where the process
// may dump core none stays, and each wipes its traces after a job.
#pragma once

#include <functional>
#include <memory>

namespace bellwether::io {

class JobThreads {
 public:
  JobThreads();
  // Does not wait for jobs that still run; ends the thread that waits for one.
  ~JobThreads();
  JobThreads(const JobThreads&) = delete;
  JobThreads& operator=(const JobThreads&) = delete;

  // Runs `job`, which throws nothing, on the thread that waits, or on a new one; neither takes
  // signals.  Throws std::system_error when none waits and none can be started.
  void run(std::function<void()> job);

 private:
  struct Place;

  std::shared_ptr<Place> place_;  // where a thread waits; shared with all that run
};

}  // namespace bellwether::io
