// One thread at a time is at a file, so that one that does not answer (a network file system whose
// server has gone, a disk that fails) keeps no more than one, however often it is asked for.  And
// it is known which file that is.
#pragma once

#include <chrono>
#include <string>

namespace bellwether {

class FileTurn {
 public:
  // Whoever is there for longer hangs, and is not waited for.
  static constexpr std::chrono::seconds kPatience{2};

  // Waits until no other thread is at `path`, or hangs there.
  explicit FileTurn(std::string path);
  ~FileTurn();
  FileTurn(const FileTurn&) = delete;
  FileTurn& operator=(const FileTurn&) = delete;

  // False: another thread hangs there, and this one must not go there, too.
  bool is_ours() const { return is_ours_; }
  // Where somebody is for longer than that; "" if nowhere.
  static std::string hanging();
  // What to say then, after the file's name.
  static constexpr const char* kFlaw =
      "is still being read; look at the disk, or the network file system, that it is on";

 private:
  std::string path_;
  bool is_ours_ = false;
};

}  // namespace bellwether
