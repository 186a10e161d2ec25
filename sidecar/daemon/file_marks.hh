// Whether files have changed, by what the file system says of them: to read them and to compare a
// digest takes ten times as long, and would be done each second.
//
// It says too little where a file is mapped and written there, where a file system does not keep
// times, or where a server's clock is behind.  So marks are believed for a minute.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hh"
#include "io/tls/guarded_file.hh"

namespace bellwether::daemon {

class FileMarks {
 public:
  // Of nothing: they never show that nothing has changed.
  FileMarks() = default;
  // Opens the files, for only then does a network file system ask its server.  Blocks for as long
  // as a disk does.
  explicit FileMarks(const std::vector<std::string>& paths);

  // Those of the files as they were read after these were taken, which may be others: a link can be
  // swapped in between.
  FileMarks as_read(std::vector<io::FileMark> marks) const;

  // Nobody has changed the files, nor put others in their place, since `earlier` were taken.  False
  // where that cannot be told: one of them was not there, or had changed just before, or it is
  // long ago.
  bool show_no_change_since(const FileMarks& earlier) const;

 private:
  bool are_settled() const;

  std::vector<io::FileMark> marks_;
  int64_t taken_ns_ = 0;  // since 1970, as the files' times
  Instant taken_{};       // by a clock that nobody sets
};

}  // namespace bellwether::daemon
