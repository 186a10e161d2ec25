// One thread at a time is at a file, so that one that does not answer (a network file system whose
// server has gone, a disk that fails) keeps no more than one, however often it is asked for.  And
// it is known which file that is.  The address of a name counts as such a file.
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace bellwether {

class FileTurn {
 public:
  // Whoever is there for longer hangs, and is not waited for.
  static constexpr std::chrono::seconds kPatience{2};

  // What to do when it hangs.
  static constexpr const char* kLookAtDisk =
      "look at the disk, or the network file system, that it is on";

  // Waits until no other thread is at `path`, or hangs there.
  explicit FileTurn(std::string path, const char* remedy = kLookAtDisk);
  ~FileTurn();
  FileTurn(const FileTurn&) = delete;
  FileTurn& operator=(const FileTurn&) = delete;

  // False: another thread hangs there, and this one must not go there, too.
  bool is_ours() const { return is_ours_; }

  struct Place {
    std::string path;
    const char* remedy;
  };
  // Where somebody is for longer than that; with an empty path: nowhere.
  static Place hanging();
  // Where that thread is; "": nowhere.
  static std::string path_of(std::thread::id thread);
  // What to say then, after the file's name.
  static std::string flaw() { return std::string("is still being read; ") + kLookAtDisk; }

 private:
  std::string path_;
  bool is_ours_ = false;
};

}  // namespace bellwether
