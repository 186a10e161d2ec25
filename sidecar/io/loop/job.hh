// Work for another thread than the loop's.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/check.hh"
#include "io/loop/loop.hh"
#include "io/loop/signals_blocked.hh"

namespace bellwether::io {

// How many threads libuv's pool is to have, in the environment variable that sets it.  Only the two
// files of the state are read and written there, one job for each at a time (StateWriter).
inline constexpr const char* kPoolSizeVariable = "UV_THREADPOOL_SIZE";
inline constexpr const char* kPoolSize = "2";

// Calls `work` on a thread of libuv's pool, and then `done`, with what it has returned, on the
// loop; not when what is returned here has been let go of by then: nobody calls back a thread, but
// its end goes unheard.  What is returned is shared with nobody; the job only looks whether it is
// there. What `work` refers to must outlive the loop.
template <typename Work, typename Done>
[[nodiscard]] std::shared_ptr<void> run_in_pool(Loop& loop, Work work, Done done) {
  struct Job {
    uv_work_t request{};
    Work work;
    Done done;
    std::weak_ptr<void> token;
    std::optional<std::invoke_result_t<Work>> result{};
  };
  std::shared_ptr<void> token = std::make_shared<char>();
  auto job = std::make_unique<Job>(Job{{}, std::move(work), std::move(done), token});
  job->request.data = job.get();
  const auto run = [](uv_work_t* request) {
    auto& started = *static_cast<Job*>(request->data);
    started.result = started.work();
  };
  const auto end = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job> ended(static_cast<Job*>(request->data));
    if (!ended->token.expired()) ended->done(std::move(*ended->result));
  };
  // The first job makes the pool's threads, and they take the signals that it does.
  const SignalsBlocked blocked;
  throw_if_failed(uv_queue_work(loop.uv(), &job->request, run, end), "cannot queue a job");
  static_cast<void>(job.release());  // libuv has it, until `end`
  return token;
}

// How many threads of their own may hang at a time.
inline constexpr size_t kMaxThreads = 30;

// As run_in_pool(), for what may hang: on a thread of its own, so that no other job waits for it.
// The thread ends with the job, or waits for the next one if no other does (JobThreads).  A pool of
// as many would be there all the time, and a killed process is gone only when the last of its
// threads is: that cost a takeover a third of a millisecond.  Nothing is returned, and nothing
// called, when there are kMaxThreads already, or the system has none left.
template <typename Work, typename Done>
[[nodiscard]] std::shared_ptr<void> run_in_thread(Loop& loop, Work work, Done done) {
  struct Job {
    Loop& loop;
    Work work;
    Done done;
    std::weak_ptr<void> token;
    uv_async_t ended{};
    std::optional<std::invoke_result_t<Work>> result{};
    // libuv orders the threads as well, which ThreadSanitizer does not see.
    std::atomic<bool> has_result = false;

    Job(Loop& on, Work&& to_do, Done&& then, const std::shared_ptr<void>& kept)
        : loop(on), work(std::move(to_do)), done(std::move(then)), token(kept) {}
    // It stays until the next turn of the loop.
    void close() {
      --loop.threads();
      uv_close(reinterpret_cast<uv_handle_t*>(&ended),
               [](uv_handle_t* closed) { delete static_cast<Job*>(closed->data); });
    }
  };
  if (loop.threads() >= kMaxThreads) return nullptr;
  std::shared_ptr<void> token = std::make_shared<char>();
  auto job = std::make_unique<Job>(loop, std::move(work), std::move(done), token);
  job->ended.data = job.get();
  const auto end = [](uv_async_t* handle) {
    auto& ended = *static_cast<Job*>(handle->data);
    ended.close();
    check(ended.has_result.load(std::memory_order_acquire), "a thread ends with its result");
    if (!ended.token.expired()) ended.done(std::move(*ended.result));
  };
  throw_if_failed(uv_async_init(loop.uv(), &job->ended, end), "cannot make a libuv handle");
  Job& started = *job.release();  // libuv has it, until it is closed
  ++loop.threads();
  try {
    loop.job_threads().run([&started] {
      started.result = started.work();
      started.has_result.store(true, std::memory_order_release);
      uv_async_send(&started.ended);
    });
  } catch (const std::system_error&) {
    started.close();
    return nullptr;
  }
  return token;
}

}  // namespace bellwether::io
