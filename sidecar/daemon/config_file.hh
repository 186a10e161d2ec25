// The configuration's file, and what is in it.
#pragma once

#include <filesystem>
#include <string>

#include "daemon/reread.hh"

namespace bellwether::daemon {

// The file's text.  A file that is longer than a configuration may be is read up to one byte more.
// Throws std::runtime_error whose text names the file, also where it is no regular file.  Blocks
// for as long as the disk does.
std::string read_config_text(const std::filesystem::path& file);

struct ConfigReading {
  std::string text;
  std::string error{};     // why it could not be read; "": it was
  bool is_unread = false;  // an error that says nothing of the file: it was given up (Reread)

  friend bool operator==(const ConfigReading& one, const ConfigReading& other) {
    return one.text == other.text && one.error == other.error;
  }
};

// `text` is what was read last.  Calls `on_reading` within a moment when the text has become
// another, cannot be read any more, or can be again; once for each change.
using ConfigFile = Reread<ConfigReading>;
ConfigFile watch_config(io::Loop& loop, const std::filesystem::path& file, std::string text,
                        ConfigFile::OnReading on_reading);

}  // namespace bellwether::daemon
