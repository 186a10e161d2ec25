// Work for a thread of libuv's pool.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "io/loop/loop.hh"

namespace bellwether::io {

// Calls `work` on a thread, and then `done`, with what it has returned, on the loop; not when what
// is returned here has been let go of by then: nobody calls back a thread, but its end goes
// unheard.  What is returned is shared with nobody; the job only looks whether it is there.  What
// `work` refers to must outlive the loop.
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
    auto& running = *static_cast<Job*>(request->data);
    running.result = running.work();
  };
  const auto end = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job> ended(static_cast<Job*>(request->data));
    if (!ended->token.expired()) ended->done(std::move(*ended->result));
  };
  throw_if_failed(uv_queue_work(loop.uv(), &job->request, run, end), "cannot queue a job");
  static_cast<void>(job.release());  // libuv has it, until `end`
  return token;
}

}  // namespace bellwether::io
