// One file, as it is read in a thread of its own.
#include "daemon/config_file.hh"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/file_turn.hh"
#include "config/source.hh"
#include "io/loop/files.hh"

namespace bellwether::daemon {
namespace {

ConfigReading read_config(const std::filesystem::path& file) {
  ConfigReading reading;
  try {
    reading.text = read_config_text(file);
  } catch (const std::exception& error) {
    reading.error = error.what();
  }
  return reading;
}

}  // namespace

std::string read_config_text(const std::filesystem::path& file) {
  const auto fail = [&file] {
    throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
  };
  const FileTurn turn(file.string());
  if (!turn.is_ours()) {
    throw std::runtime_error("cannot read " + file.string() + ": it " + FileTurn::flaw());
  }
  const io::FileDescriptor in(::open(file.c_str(), io::kOpenToRead));
  if (!in.is_open()) fail();
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) fail();
  if (!S_ISREG(status.st_mode)) {
    throw std::runtime_error("cannot read " + file.string() +
                             ": it is a folder, a pipe or a device; put a regular file, or a link "
                             "to one, in its place");
  }
  std::string text;
  if (!read_to_end(in, kMaxConfigBytes + 1, text)) fail();
  return text;
}

ConfigFile watch_config(io::Loop& loop, const std::filesystem::path& file, std::string text,
                        ConfigFile::OnReading on_reading) {
  return ConfigFile(
      loop, {.text = std::move(text)}, [file](const ConfigReading&) { return read_config(file); },
      [file](const ConfigReading& last, const Unread& unread) {
        return ConfigReading{.text = last.text,
                             .error = "cannot read " + file.string() + ": " + unread.why,
                             .is_unread = true};
      },
      std::move(on_reading));
}

}  // namespace bellwether::daemon
