// Times have the granularity of the file system: two writes may have the same one, of which a
// reader has seen the first.
#include "daemon/file_marks.hh"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file_turn.hh"
#include "io/loop/files.hh"
#include "io/loop/loop.hh"

namespace bellwether::daemon {
namespace {

using std::chrono::nanoseconds;

// FAT's; others have milliseconds.
constexpr nanoseconds kGranularity = std::chrono::seconds(2);
constexpr Duration kBelieved = std::chrono::minutes(1);

}  // namespace

FileMarks::FileMarks(const std::vector<std::string>& paths)
    : taken_ns_(nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count()),
      taken_(io::Loop::now()) {
  for (const std::string& path : paths) {
    const FileTurn turn(path);
    const io::FileDescriptor file(turn.is_ours() ? ::open(path.c_str(), io::kOpenToRead) : -1);
    struct stat status {};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
      marks_.clear();
      return;
    }
    marks_.push_back(io::mark_of(status));
  }
}

FileMarks FileMarks::as_read(std::vector<io::FileMark> marks) const {
  FileMarks read = *this;
  read.marks_ = std::move(marks);
  return read;
}

// Any change from when they were taken on changes a time.
bool FileMarks::are_settled() const {
  return std::ranges::all_of(marks_, [this](const io::FileMark& mark) {
    return std::max(mark.written_ns, mark.changed_ns) + kGranularity.count() < taken_ns_;
  });
}

bool FileMarks::show_no_change_since(const FileMarks& earlier) const {
  return !marks_.empty() && marks_ == earlier.marks_ && earlier.are_settled() &&
         taken_ - earlier.taken_ < kBelieved;
}

}  // namespace bellwether::daemon
