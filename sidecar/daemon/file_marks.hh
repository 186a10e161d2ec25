// Whether files have changed, by what the file system says of them: to read them and to compare a
// digest takes ten times as long, and is done each second otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bellwether::daemon {

class FileMarks {
 public:
  // Of nothing that was looked at.
  FileMarks() = default;
  // Opens the files, for only then does a network file system ask its server.  Blocks for as long
  // as a disk does; throws nothing.
  explicit FileMarks(const std::vector<std::string>& paths);

  // Nobody has changed the files, nor put others in their place, since `earlier` were taken.  False
  // where that cannot be told: one of them was not there, or had changed just before.
  bool show_no_change_since(const FileMarks& earlier) const {
    return earlier.are_settled_ && marks_ == earlier.marks_;
  }

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
  bool are_settled_ = false;  // whoever changes a file from now on changes its times
};

}  // namespace bellwether::daemon
