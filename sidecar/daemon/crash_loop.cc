// The file has nothing but zeros, which take no room: its size is the count, and its time that of
// the last start.  So it can be written where no room is left.
#include "daemon/crash_loop.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "base/file_turn.hh"

namespace bellwether::daemon {
namespace {

constexpr unsigned kStartsAtOnce = 3;

Instant time_of(const struct stat& file) {
  return Instant(std::chrono::seconds(file.st_mtim.tv_sec) +
                 std::chrono::nanoseconds(file.st_mtim.tv_nsec));
}

Duration wait_after(unsigned quick_starts) {
  if (quick_starts < kStartsAtOnce) return Duration::zero();
  const unsigned doublings = std::min(quick_starts - kStartsAtOnce + 1, CrashLoop::kMostCounted);
  return std::min<Duration>(std::chrono::seconds(1U << doublings), kLongestWaitToStart);
}

// Anything else is a file of somebody else.
bool is_ours(int file) {
  struct stat found {};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return false;
  if (found.st_uid != ::geteuid() || found.st_nlink != 1) return false;
  std::array<char, CrashLoop::kMostCounted + 1> bytes{};
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
  return count >= 0 && count < static_cast<ssize_t>(bytes.size()) &&
         std::ranges::all_of(bytes, [](char each) { return each == 0; });
}

}  // namespace

CrashLoop::CrashLoop(const std::filesystem::path& folder,
                     const std::filesystem::path& config_file) {
  if (folder.empty()) return;
  const std::string path = folder / (".starts-" + config_file.filename().string());
  const FileTurn turn(path);
  io::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | io::kCautiousOpen, 0600));
  if (!file.is_open()) {
    flaw_ = path + ": " + std::generic_category().message(errno);
  } else if (!is_ours(file.get())) {
    flaw_ = path + " is somebody else's";
  }
  if (flaw_.empty()) file_ = std::move(file);
}

std::filesystem::path CrashLoop::usual_folder() {
  const char* const folders = std::getenv("RUNTIME_DIRECTORY");
  if (folders == nullptr) return {};
  const std::string text(folders);
  return text.substr(0, text.find(':'));
}

// A start that is killed while it waits leaves no trace.  So the time in which the next one counts
// as soon is longer by that wait, and nobody waits beyond it: even where each start is killed after
// a while, one begins in the end.
CrashLoop::Turn CrashLoop::turn(Instant now) const {
  struct stat found {};
  if (!file_.is_open() || ::fstat(file_.get(), &found) != 0) return {};
  const auto starts = static_cast<unsigned>(std::min<off_t>(found.st_size, kMostCounted));
  const Duration wait = wait_after(starts);
  const Instant last = time_of(found);
  const Duration left = last + kSoonAfterStart + wait - now;
  if (last > now || left <= Duration::zero()) return {};
  return {.quick_starts = starts,
          .wait = std::min<Duration>(wait, std::chrono::ceil<std::chrono::seconds>(left))};
}

void CrashLoop::begin(unsigned quick_starts, Instant now) const {
  if (!file_.is_open()) return;
  const auto since_boot = now.time_since_epoch();
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_boot);
  const std::array<timespec, 2> times{
      {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
       {.tv_sec = whole.count(), .tv_nsec = (since_boot - whole).count()}}};
  const auto count = static_cast<off_t>(std::min(quick_starts + 1, kMostCounted));
  if (::ftruncate(file_.get(), count) != 0 || ::futimens(file_.get(), times.data()) != 0) forget();
}

void CrashLoop::forget() const {
  if (!file_.is_open()) return;
  const int result = ::ftruncate(file_.get(), 0);
  static_cast<void>(result);  // at worst somebody waits for some seconds
}

}  // namespace bellwether::daemon
