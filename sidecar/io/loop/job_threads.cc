// A thread that is done waits in the one place, unless another waits there already: then it ends.
#include "io/loop/job_threads.hh"

#include <openssl/crypto.h>
#include <sys/prctl.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "io/loop/signals_blocked.hh"

namespace bellwether::io {
namespace {

bool may_dump_core() { return ::prctl(PR_GET_DUMPABLE) != 0; }

// The C library keeps the upper part of a stack when its thread has ended.  Memory is copied
// through vector registers, and the dynamic linker saves them on the stack when a function is
// called for the first time.
[[gnu::noinline]] void wipe() {
  std::array<char, size_t{64} << 10> zeros;  // NOLINT(*-member-init): cleansed next
  OPENSSL_cleanse(zeros.data(), zeros.size());
  // More than eight registers of 64 bytes hold, for which glibc uses as many as it ever does; and
  // less than what it leaves to an instruction (rep movsb) instead.
  const volatile size_t size = 1024;
  std::memcpy(zeros.data() + size, zeros.data(), size);
  OPENSSL_cleanse(zeros.data() + size, size);  // so that the compiler keeps the copy
}

}  // namespace

void wipe_traces() {
  if (may_dump_core()) wipe();
}

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
