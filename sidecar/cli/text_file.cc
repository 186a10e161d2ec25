// Replacing a file is writing a draft beside it, having it on the disk, and renaming it.
#include "cli/text_file.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/file_turn.hh"
#include "cli/commands.hh"
#include "io/loop/files.hh"

namespace bellwether::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTextBytes = size_t{16} << 20;

// An open file; its errors name it, and what was to be done with it.
class File {
 public:
  File(int fd, const char* action, std::string path)
      : fd_(fd), action_(action), path_(std::move(path)) {
    if (!fd_.is_open()) fail();
  }

  std::string read_all() const {
    std::string text;
    char buffer[1 << 16];
    while (true) {
      if (text.size() > kMaxTextBytes)
        throw std::runtime_error(path_ + " has no end, or is too long");
      const ssize_t count = ::read(fd_.get(), buffer, sizeof buffer);
      if (count == 0) return text;
      if (count > 0) text.append(buffer, static_cast<size_t>(count));
      if (count < 0 && errno != EINTR) fail();
    }
  }

  void write_all(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(fd_.get(), text.data() + done, text.size() - done);
      if (count < 0 && errno != EINTR) fail();
      if (count > 0) done += static_cast<size_t>(count);
    }
  }

  void set_mode(mode_t mode) const {
    if (::fchmod(fd_.get(), mode) != 0) fail();
  }

  // On the disk, and closed.
  void finish() {
    if (::fsync(fd_.get()) != 0) fail();
    if (::close(fd_.release()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw std::system_error(errno, std::generic_category(),
                            std::string("cannot ") + action_ + " " + path_);
  }

  io::FileDescriptor fd_;
  const char* action_;
  std::string path_;
};

void replace(const fs::path& target, const std::string& text) {
  constexpr mode_t kNewFile = 0666;
  const std::string draft = target.string() + ".new." + std::to_string(::getpid());
  struct stat old {};
  const bool is_there = ::stat(target.c_str(), &old) == 0;
  File file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFile), "write",
            target.string());
  try {
    if (is_there) file.set_mode(old.st_mode & 07777);
    file.write_all(text);
    file.finish();
    fs::rename(draft, target);
  } catch (...) {
    ::unlink(draft.c_str());
    throw;
  }
}

}  // namespace

std::string read_text_file(const std::string& path) {
  const FileTurn turn(path);
  return File(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "read", path).read_all();
}

std::string read_configuration(const std::string& path, const std::function<std::string()>& read) {
  try {
    return read();
  } catch (const std::system_error& error) {
    if (path != kUsualConfig || error.code() != std::errc::no_such_file_or_directory) throw;
    throw std::runtime_error(std::string(error.what()) + "; give the file with --config");
  }
}

void write_text_file(const std::string& path, const std::string& text) {
  std::error_code unused;
  const fs::file_status status = fs::status(path, unused);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    File(::open(path.c_str(), O_WRONLY | O_CLOEXEC), "write", path).write_all(text);
    return;
  }
  // A symbolic link stays one.
  replace(fs::exists(status) ? fs::canonical(path) : fs::path(path), text);
}

}  // namespace bellwether::cli
