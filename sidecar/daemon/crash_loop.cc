// The file is empty: its size is the count, and its time that of the last start.  So it takes no
// room where there is none, and is there as a whole or not at all.
#include "daemon/crash_loop.hh"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace bellwether::daemon {
namespace {

constexpr unsigned kStartsAtOnce = 3;
constexpr unsigned kMostCounted = 16;  // what is larger is a file of somebody else

Instant time_of(const struct stat& file) {
  return Instant(std::chrono::seconds(file.st_mtim.tv_sec) +
                 std::chrono::nanoseconds(file.st_mtim.tv_nsec));
}

bool is_ours(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_uid == ::geteuid() && file.st_nlink == 1 &&
         file.st_size <= static_cast<off_t>(kMostCounted);
}

}  // namespace

CrashLoop::CrashLoop(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  const std::string path = folder / ".starts";
  io::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | io::kCautiousOpen, 0600));
  struct stat found {};
  if (::fstat(file.get(), &found) != 0 || !is_ours(found)) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) file_ = std::move(file);
}

std::filesystem::path CrashLoop::usual_folder() {
  const char* const folders = std::getenv("RUNTIME_DIRECTORY");
  if (folders == nullptr) return {};
  const std::string text(folders);
  return text.substr(0, text.find(':'));
}

unsigned CrashLoop::quick_starts(Instant now) const {
  struct stat found {};
  if (!file_.is_open() || ::fstat(file_.get(), &found) != 0) return 0;
  const Instant last = time_of(found);
  const bool is_soon = last <= now && now - last < kSoonAfterStart;
  return is_soon ? static_cast<unsigned>(std::min<off_t>(found.st_size, kMostCounted)) : 0;
}

Duration CrashLoop::wait_after(unsigned quick_starts) {
  if (quick_starts < kStartsAtOnce) return Duration::zero();
  const unsigned doublings = std::min(quick_starts - kStartsAtOnce + 1, kMostCounted);
  return std::min<Duration>(std::chrono::seconds(1U << doublings), kLongestWaitToStart);
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
