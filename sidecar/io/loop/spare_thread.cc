// Whoever is done waits in the one place, if nobody else does, or ends.
#include "io/loop/spare_thread.hh"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "io/loop/signals_blocked.hh"

namespace bellwether::io {

struct SpareThread::Place {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> job;  // for the one that waits
  bool is_taken = false;      // somebody waits
  bool is_over = false;

  bool give(std::function<void()>& next) {
    const std::lock_guard lock(mutex);
    if (!is_taken) return false;
    is_taken = false;
    job = std::move(next);
    changed.notify_one();
    return true;
  }

  // Empty: the thread is to end.
  std::function<void()> wait() {
    std::unique_lock lock(mutex);
    if (is_taken || is_over) return nullptr;
    is_taken = true;
    changed.wait(lock, [this] { return job != nullptr || is_over; });
    return std::exchange(job, nullptr);
  }
};

SpareThread::SpareThread() : place_(std::make_shared<Place>()) {}

SpareThread::~SpareThread() {
  const std::lock_guard lock(place_->mutex);
  place_->is_over = true;
  place_->changed.notify_one();
}

void SpareThread::run(std::function<void()> job) {
  if (place_->give(job)) return;
  const SignalsBlocked blocked;
  std::thread([place = place_, next = std::move(job)]() mutable {
    for (; next != nullptr; next = place->wait()) next();
  }).detach();
}

}  // namespace bellwether::io
