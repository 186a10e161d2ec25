// The configuration's file: read in the thread pool whenever it may have changed.
//
// It is watched by its folder, because a file that is replaced by another (an editor's save, the
// swap of a ConfigMap's symbolic link) is a new file that nobody watches.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/timer.hh"

namespace bellwether {

// The file's text.  A file that is longer than a configuration may be is read up to one byte more.
// Throws std::system_error whose text names the file.  Blocks.
std::string read_config_text(const std::filesystem::path& file);

class ConfigFile {
 public:
  struct Reading {
    std::string text;
    std::string error{};      // why it could not be read; "": it was
    bool is_changed = false;  // the text is another than the time before
  };
  using OnReading = std::function<void(const Reading&)>;

  // `text` is what was read last.  Calls `on_change` when the text has become another, or cannot be
  // read any more.  Where the folder cannot be watched, flaw() says why and read() is all there is.
  ConfigFile(Loop& loop, std::filesystem::path file, std::string text, OnReading on_change);
  ~ConfigFile();
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;

  const std::string& flaw() const { return flaw_; }

  // Reads it again and calls `then`, in any case.
  void read(OnReading then);

 private:
  struct Job;

  void watch();
  void start();
  void finish(const Job& job);

  Loop& loop_;
  std::filesystem::path file_;
  std::string text_;
  OnReading on_change_;
  std::string flaw_;
  Job* running_ = nullptr;            // owned by libuv until it is done
  std::vector<OnReading> waiting_{};  // for the next reading
  LoopTimer settled_;                 // several changes in a row are one
  UvPtr<uv_fs_event_t> folder_;
};

}  // namespace bellwether
