// Whether files have changed, by what the file system says of them: to read them and to compare a
// digest takes ten times as long, and would be done each second.
//
// It says too little where a file is mapped and written there, where a file system does not keep
// times, or where a server's clock is behind.  So marks are believed for a minute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::daemon {

class FileMarks {
 public:
  // No other ones show the same.
  FileMarks() = default;
  // Opens the files, for only then does a network file system ask its server.  Blocks for as long
  // as a disk does.
  explicit FileMarks(const std::vector<std::string>& paths);

  // Nobody has changed the files, nor put others in their place, since `earlier` were taken.  False
  // where that cannot be told: one of them was not there, or had changed just before, or it is
  // long ago.
  bool show_no_change_since(const FileMarks& earlier) const;

 private:
  struct Mark {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t written_ns;  // since 1970
    int64_t changed_ns;  // the same, of rights and owner, too

    friend bool operator==(const Mark&, const Mark&) = default;
  };

  std::vector<Mark> marks_;
  int64_t taken_ns_ = 0;      // since 1970
  bool are_settled_ = false;  // any change from then on changes a time
};

}  // namespace bellwether::daemon
