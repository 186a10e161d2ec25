// Whose turn it is at each path.
#include "base/file_turn.hh"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace bellwether {
namespace {

using Clock = std::chrono::steady_clock;

struct Turn {
  Clock::time_point since;
  std::thread::id thread;
  const char* remedy;
};

struct Turns {
  std::mutex mutex;
  std::condition_variable ended;
  std::map<std::string, Turn> by_path;
};

// Never destroyed: a thread that hangs may come back while the process ends.
Turns& turns() {
  static auto& all = *new Turns;
  return all;
}

}  // namespace

FileTurn::Place FileTurn::hanging() {
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  const auto now = Clock::now();
  for (const auto& [path, turn] : all.by_path) {
    if (turn.since + kPatience <= now) return {path, turn.remedy};
  }
  return {};
}

std::string FileTurn::path_of(std::thread::id thread) {
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  for (const auto& [path, turn] : all.by_path) {
    if (turn.thread == thread) return path;
  }
  return "";
}

FileTurn::FileTurn(std::string path, const char* remedy) : path_(std::move(path)) {
  Turns& all = turns();
  std::unique_lock lock(all.mutex);
  while (true) {
    const Turn mine{Clock::now(), std::this_thread::get_id(), remedy};
    const auto [turn, is_free] = all.by_path.try_emplace(path_, mine);
    is_ours_ = is_free;
    const auto end = turn->second.since + kPatience;
    if (is_free || Clock::now() >= end) return;
    all.ended.wait_until(lock, end);
  }
}

FileTurn::~FileTurn() {
  if (!is_ours_) return;
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  all.by_path.erase(path_);
  all.ended.notify_all();
}

}  // namespace bellwether
