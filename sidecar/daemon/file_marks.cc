// Times have the granularity of the file system: two writes may have the same one, of which a
// reader has seen the first.
#include "daemon/file_marks.hh"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "base/file_turn.hh"
#include "io/loop/files.hh"

namespace bellwether::daemon {
namespace {

using std::chrono::nanoseconds;

// FAT's; others have milliseconds.
constexpr nanoseconds kGranularity = std::chrono::seconds(2);
constexpr nanoseconds kBelieved = std::chrono::minutes(1);

int64_t to_ns(const timespec& time) {
  return nanoseconds(std::chrono::seconds(time.tv_sec)).count() + time.tv_nsec;
}

}  // namespace

FileMarks::FileMarks(const std::vector<std::string>& paths) {
  taken_ns_ = nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const std::string& path : paths) {
    const FileTurn turn(path);
    if (!turn.is_ours()) return;
    const io::FileDescriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0) return;
    marks_.push_back({.device = status.st_dev,
                      .inode = status.st_ino,
                      .size = status.st_size,
                      .written_ns = to_ns(status.st_mtim),
                      .changed_ns = to_ns(status.st_ctim)});
  }
  are_settled_ = std::ranges::all_of(marks_, [this](const Mark& mark) {
    return std::max(mark.written_ns, mark.changed_ns) + kGranularity.count() < taken_ns_;
  });
}

bool FileMarks::show_no_change_since(const FileMarks& earlier) const {
  const int64_t age_ns = taken_ns_ - earlier.taken_ns_;
  const bool is_recent = age_ns >= 0 && age_ns < kBelieved.count();  // the clock may be put back
  return earlier.are_settled_ && is_recent && marks_ == earlier.marks_;
}

}  // namespace bellwether::daemon
