// Whose turn it is at each path.
#include "base/file_turn.hh"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace bellwether {
namespace {

using Clock = std::chrono::steady_clock;

struct Turns {
  std::mutex mutex;
  std::condition_variable ended;
  std::map<std::string, Clock::time_point> since;  // of whose turn it is
};

// Never destroyed: a thread that hangs may come back while the process ends.
Turns& turns() {
  static auto& all = *new Turns;
  return all;
}

}  // namespace

std::string FileTurn::hanging() {
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  const auto now = Clock::now();
  const auto found = std::find_if(all.since.begin(), all.since.end(), [now](const auto& turn) {
    return turn.second + kPatience <= now;
  });
  return found != all.since.end() ? found->first : "";
}

FileTurn::FileTurn(std::string path) : path_(std::move(path)) {
  Turns& all = turns();
  std::unique_lock lock(all.mutex);
  while (true) {
    const auto [turn, is_free] = all.since.try_emplace(path_, Clock::now());
    is_ours_ = is_free;
    const auto end = turn->second + kPatience;
    if (is_free || Clock::now() >= end) return;
    all.ended.wait_until(lock, end);
  }
}

FileTurn::~FileTurn() {
  if (!is_ours_) return;
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  all.since.erase(path_);
  all.ended.notify_all();
}

}  // namespace bellwether
