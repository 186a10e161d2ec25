// A thread that is done waits in the one place, unless another waits there already: then it ends.
#include "io/loop/job_threads.hh"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "io/loop/signals_blocked.hh"
#include "io/loop/thread_traces.hh"

namespace bellwether::io {

// A thread has its own handle, and leaves it here while it waits.  So the one that waits can be
// joined: it is gone before the process ends, and OpenSSL with it, which keeps something for each
// thread.  One that runs may hang, so nobody joins it.
struct JobThreads::Place {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread waiting;
  std::function<void()> job;  // for the one that waits
  bool is_over = false;

  // Empty: the thread is to end.
  std::function<void()> wait(std::thread& self) {
    std::unique_lock lock(mutex);
    if (is_over || waiting.joinable() || may_dump_core()) {
      self.detach();
      return nullptr;
    }
    waiting = std::move(self);
    changed.wait(lock, [this] { return job != nullptr || is_over; });
    if (job != nullptr) self = std::move(waiting);
    return std::exchange(job, nullptr);
  }
};

JobThreads::JobThreads() : place_(std::make_shared<Place>()) {}

JobThreads::~JobThreads() {
  std::thread waiting;
  {
    const std::lock_guard lock(place_->mutex);
    place_->is_over = true;
    if (place_->job == nullptr) waiting = std::move(place_->waiting);
  }
  place_->changed.notify_one();
  if (waiting.joinable()) waiting.join();
}

void JobThreads::run(std::function<void()> job) {
  std::unique_lock lock(place_->mutex);
  if (place_->waiting.joinable() && place_->job == nullptr) {
    place_->job = std::move(job);
    lock.unlock();  // first: whoever is woken needs it
    return place_->changed.notify_one();
  }
  const SignalsBlocked blocked;
  // It finds its handle, because it needs the lock before it looks for it.
  const auto self = std::make_shared<std::thread>();
  *self = std::thread([self, place = place_, next = std::move(job)]() mutable {
    while (next != nullptr) {
      next();
      next = nullptr;  // with all that it has captured
      wipe_traces();
      next = place->wait(*self);
    }
  });
}

}  // namespace bellwether::io
