// One job at a time: all variants, one after the other.
#include "daemon/shadow_elections.hh"

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bellwether {

using metrics::ElectionType;
using metrics::ShadowResult;
using simulator::ShadowFlaw;

namespace {

FrameType frame_type_of(ElectionType type) {
  switch (type) {
    case ElectionType::kElection:
      return FrameType::kElection;
    case ElectionType::kAnswer:
      return FrameType::kAnswer;
    case ElectionType::kHandover:
      return FrameType::kHandover;
    case ElectionType::kCoordinator:
      return FrameType::kCoordinator;
    case ElectionType::kPrivate:
      return FrameType::kPrivate;
  }
  return FrameType::kPrivate;
}

}  // namespace

// Lives until libuv is done with it, also when its owner has gone.
struct ShadowElections::Job {
  uv_work_t request{};
  const election_plugin* plugin = nullptr;
  simulator::ElectionFacts facts{};
  ShadowElections* owner = nullptr;    // nullptr: gone
  std::atomic<bool> is_wanted = true;  // the owner is there
  std::vector<std::pair<std::string, simulator::ShadowCounts>> counts{};
  bool is_complete = false;

  // In the thread pool.
  void run() noexcept {
    try {
      is_complete = hold_all();
    } catch (const std::exception&) {
      is_complete = false;  // out of memory, say: it is only a count
    }
  }

  bool hold_all() {
    for (const char* const* variant = plugin->variants; *variant != nullptr; ++variant) {
      if (!is_wanted) return false;
      const auto held = simulator::hold_shadow_election(*plugin, *variant, facts);
      if (!held) return false;
      counts.emplace_back(*variant, *held);
    }
    return true;
  }
};

ShadowElections::~ShadowElections() {
  if (running_ == nullptr) return;
  running_->owner = nullptr;
  running_->is_wanted = false;
}

void ShadowElections::hold(simulator::ElectionFacts facts) {
  if (const auto flaw = simulator::shadow_flaw_of(facts)) {
    return metrics_.on_shadow_election(*flaw == ShadowFlaw::kTooLarge ? ShadowResult::kTooLarge
                                                                      : ShadowResult::kOnHold);
  }
  if (running_ != nullptr) return metrics_.on_shadow_election(ShadowResult::kBusy);
  start(std::move(facts));
}

void ShadowElections::start(simulator::ElectionFacts facts) {
  auto job = std::make_unique<Job>();
  job->request.data = job.get();
  job->plugin = &plugin_;
  job->facts = std::move(facts);
  job->owner = this;
  const auto work = [](uv_work_t* request) { static_cast<Job*>(request->data)->run(); };
  const auto done = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job> finished(static_cast<Job*>(request->data));
    if (finished->owner == nullptr) return;
    finished->owner->running_ = nullptr;
    finished->owner->count(*finished);
  };
  throw_if_failed(uv_queue_work(loop_.uv(), &job->request, work, done), "cannot queue an election");
  running_ = job.release();  // libuv has it, until `done`
}

// Of all variants or of none, so that their sums are of the same elections.
void ShadowElections::count(const Job& job) {
  if (!job.is_complete) return metrics_.on_shadow_election(ShadowResult::kFailed);
  metrics_.on_shadow_election(ShadowResult::kCounted);
  for (const auto& [variant, counts] : job.counts) {
    for (size_t i = 0; i < kValues<ElectionType>; ++i) {
      const auto type = static_cast<ElectionType>(i);
      metrics_.on_shadow_messages(variant, type, counts[static_cast<size_t>(frame_type_of(type))]);
    }
  }
}

}  // namespace bellwether
