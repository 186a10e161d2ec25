// The file has one line: how many short lives there were, and when the last one began.
#include "daemon/crash_loop.hh"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "io/loop/files.hh"

namespace bellwether::daemon {
namespace {

// One failure is none: as many starts are made at once.
constexpr unsigned kFreeLives = 3;
constexpr size_t kMaxLine = 64;

struct Record {
  unsigned short_lives = 0;
  Instant begun_at{};
};

Duration wait_after(unsigned short_lives) {
  if (short_lives < kFreeLives) return Duration::zero();
  constexpr unsigned kMostDoublings = 6;
  const unsigned doublings = std::min(short_lives - kFreeLives + 1, kMostDoublings);
  return std::min<Duration>(std::chrono::seconds(1U << doublings), kLongestWaitForLife);
}

std::optional<Record> read_record(const std::filesystem::path& path) {
  const io::FileDescriptor file(::open(path.c_str(), O_RDONLY | io::kCautiousOpen));
  std::string text;
  if (!file.is_open() || !io::read_to_end(file, kMaxLine, text)) return std::nullopt;
  Record record;
  int64_t begun_ns = 0;
  if (!(std::istringstream(text) >> record.short_lives >> begun_ns)) return std::nullopt;
  record.begun_at = Instant(std::chrono::nanoseconds(begun_ns));
  return record;
}

void write_record(const std::filesystem::path& path, const Record& record) {
  const io::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | io::kCautiousOpen, 0600));
  if (!file.is_open()) return;
  const std::string line = std::to_string(record.short_lives) + " " +
                           std::to_string(record.begun_at.time_since_epoch().count()) + "\n";
  const ssize_t written = ::write(file.get(), line.data(), line.size());
  static_cast<void>(written);  // a line that is cut off counts as none
}

}  // namespace

CrashLoop::CrashLoop(const std::filesystem::path& folder) {
  // No flag has such a name, and flags may be in the same folder.
  if (!folder.empty()) file_ = folder / ".short_lives";
}

std::filesystem::path CrashLoop::usual_folder() {
  const char* const folders = std::getenv("RUNTIME_DIRECTORY");
  if (folders == nullptr) return {};
  const std::string text(folders);
  return text.substr(0, text.find(':'));
}

CrashLoop::Life CrashLoop::begin(Instant now) const {
  if (file_.empty()) return {};
  const auto last = read_record(file_);
  const bool is_short =
      last && last->begun_at <= now + kLongestWaitForLife && now < last->begun_at + kShortLife;
  const unsigned short_lives = is_short ? last->short_lives + 1 : 0;
  const Life life{.short_ones_before = short_lives, .wait = wait_after(short_lives)};
  write_record(file_, {.short_lives = short_lives, .begun_at = now + life.wait});
  return life;
}

void CrashLoop::forget() const {
  if (file_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace bellwether::daemon
