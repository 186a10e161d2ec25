// The configuration's file: read in the thread pool, once a second.
//
// To be told of changes by inotify instead, one would have to watch each folder on the way to the
// file (an editor's save, the swap of a ConfigMap's link, a link into another folder, a folder that
// is made anew), and a user has 128 instances of it for all containers of a machine.  A reading is
// some ten microseconds of a thread that is not the loop's, and sees them all.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/loop/timer.hh"

namespace bellwether::daemon {

// The file's text.  A file that is longer than a configuration may be is read up to one byte more.
// Throws std::runtime_error whose text names the file, also where it is no regular file.  Blocks
// for as long as the disk does.
std::string read_config_text(const std::filesystem::path& file);

class ConfigFile {
 public:
  struct Reading {
    std::string text;
    std::string error{};      // why it could not be read; "": it was
    bool is_changed = false;  // text or error are others than the time before
    bool is_hanging = false;  // an error: its reading has not come to an end within two seconds
  };
  using OnReading = std::function<void(const Reading&)>;

  // `text` is what was read last.  Calls `on_change` within a moment when the text has become
  // another, cannot be read any more, or can be again; once for each change.
  ConfigFile(Loop& loop, std::filesystem::path file, std::string text, OnReading on_change);
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  ~ConfigFile() = default;

  // Reads it again and calls `then`, in any case: when it is read, when that has taken two seconds,
  // or at once while a reading hangs.
  void read(OnReading then);

 private:
  void look();
  void queue(OnReading then);
  void start();
  void finish(Reading reading);
  void give_up();
  Reading no_answer() const;

  Loop& loop_;
  std::filesystem::path file_;
  Reading last_;
  OnReading on_change_;
  std::shared_ptr<void> running_{};    // what is being read; shared with nobody (job.hh)
  std::vector<OnReading> told_{};      // of that one
  std::vector<OnReading> waiting_{};   // for the next reading
  std::optional<Reading> settling_{};  // has changed, and is looked at once more
  bool is_hanging_ = false;            // nobody waits for the reading that runs
  LoopTimer next_look_;
  LoopTimer patience_;
};

}  // namespace bellwether::daemon
