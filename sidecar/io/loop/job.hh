// Work for a thread of libuv's pool.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "io/loop/loop.hh"

namespace bellwether::io {

// The pool has two threads for the files of the state, which no reading may take: those of other
// files may hang, and then keep their threads.
inline constexpr size_t kMaxReadings = 30;
inline constexpr size_t kPoolThreads = kMaxReadings + 2;

// Calls `work` on a thread, and then `done`, with what it has returned, on the loop; not when what
// is returned here has been let go of by then: nobody calls back a thread, but its end goes
// unheard.  What is returned is shared with nobody; the job only looks whether it is there.  What
// `work` refers to must outlive the loop.  `running` is one more until the thread is done.
template <typename Work, typename Done>
[[nodiscard]] std::shared_ptr<void> run_in_pool(Loop& loop, Work work, Done done,
                                                size_t* running = nullptr) {
  struct Job {
    uv_work_t request{};
    Work work;
    Done done;
    std::weak_ptr<void> token;
    size_t* running = nullptr;
    std::optional<std::invoke_result_t<Work>> result{};
  };
  std::shared_ptr<void> token = std::make_shared<char>();
  auto job = std::make_unique<Job>(Job{{}, std::move(work), std::move(done), token, running});
  job->request.data = job.get();
  const auto run = [](uv_work_t* request) {
    auto& started = *static_cast<Job*>(request->data);
    started.result = started.work();
  };
  const auto end = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job> ended(static_cast<Job*>(request->data));
    if (ended->running != nullptr) --*ended->running;
    if (!ended->token.expired()) ended->done(std::move(*ended->result));
  };
  throw_if_failed(uv_queue_work(loop.uv(), &job->request, run, end), "cannot queue a job");
  if (running != nullptr) ++*running;
  static_cast<void>(job.release());  // libuv has it, until `end`
  return token;
}

}  // namespace bellwether::io
