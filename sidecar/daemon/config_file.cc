// A reading that differs from the one before is done again until two are the same, since the file
// may just be written.
#include "daemon/config_file.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "config/source.hh"
#include "io/loop/files.hh"
#include "io/loop/job.hh"

namespace bellwether::daemon {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
constexpr Duration kSettleTime = std::chrono::milliseconds(100);
// With a reading.  The command line waits for an answer for longer.
constexpr Duration kPatience = std::chrono::seconds(2);

}  // namespace

std::string read_config_text(const std::filesystem::path& file) {
  const auto fail = [&file] {
    throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
  };
  // A pipe is to be refused, not waited for.
  const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
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

ConfigFile::ConfigFile(Loop& loop, std::filesystem::path file, std::string text,
                       OnReading on_change)
    : loop_(loop),
      file_(std::move(file)),
      last_{.text = std::move(text)},
      on_change_(std::move(on_change)),
      next_look_(loop, [this] { look(); }),
      patience_(loop, [this] { give_up(); }) {
  next_look_.arm(kInterval);
}

void ConfigFile::look() {
  queue([this](const Reading& reading) {
    const bool is_settled =
        settling_ && settling_->text == reading.text && settling_->error == reading.error;
    const bool is_settling = reading.is_changed && !is_settled;
    settling_ = is_settling ? std::optional(reading) : std::nullopt;
    next_look_.arm(is_settling ? kSettleTime : kInterval);
    if (!reading.is_changed || is_settling) return;
    last_ = reading;
    on_change_(reading);
  });
}

void ConfigFile::read(OnReading then) {
  queue([this, then = std::move(then)](const Reading& reading) {
    last_ = reading;
    then(reading);
  });
}

void ConfigFile::queue(OnReading then) {
  if (is_hanging_) return then(no_answer());
  waiting_.push_back(std::move(then));
  if (running_ == nullptr) start();
}

void ConfigFile::start() {
  told_ = std::exchange(waiting_, {});
  const auto read = [file = file_] {
    Reading reading;
    try {
      reading.text = read_config_text(file);
    } catch (const std::exception& error) {
      reading.error = error.what();
    }
    return reading;
  };
  running_ = run_in_pool(loop_, read, [this](Reading reading) { finish(std::move(reading)); });
  patience_.arm(kPatience);
}

// The reading itself cannot be called back: it goes on, and nobody waits for it any more.
void ConfigFile::give_up() {
  is_hanging_ = true;
  std::vector<OnReading> all = std::exchange(told_, {});
  for (OnReading& then : std::exchange(waiting_, {})) all.push_back(std::move(then));
  for (const OnReading& then : all) then(no_answer());
}

ConfigFile::Reading ConfigFile::no_answer() const {
  Reading reading{.text = last_.text,
                  .error = "cannot read " + file_.string() +
                           ": it is still being read; look at the disk, or the network file "
                           "system, that it is on",
                  .is_hanging = true};
  reading.is_changed = reading.error != last_.error;
  return reading;
}

void ConfigFile::finish(Reading reading) {
  running_.reset();
  is_hanging_ = false;
  patience_.disarm();
  reading.is_changed = reading.text != last_.text || reading.error != last_.error;
  for (const OnReading& then : std::exchange(told_, {})) then(reading);
  if (!waiting_.empty()) start();
}

}  // namespace bellwether::daemon
