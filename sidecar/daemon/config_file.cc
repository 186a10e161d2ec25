// A reading that differs from the one before is done once more, since the file may just be written.
#include "daemon/config_file.hh"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "config/source.hh"
#include "io/file_descriptor.hh"

namespace bellwether {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
constexpr Duration kSettleTime = std::chrono::milliseconds(100);

}  // namespace

std::string read_config_text(const std::filesystem::path& file) {
  const auto fail = [&file] {
    throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
  };
  const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!in.is_open()) fail();
  std::string text(kMaxConfigBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(in.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

struct ConfigFile::Job {
  uv_work_t request{};
  std::filesystem::path file;
  Reading reading{};
  ConfigFile* owner = nullptr;  // nullptr: gone
  std::vector<OnReading> then;
};

ConfigFile::ConfigFile(Loop& loop, std::filesystem::path file, std::string text,
                       OnReading on_change)
    : loop_(loop),
      file_(std::move(file)),
      last_{.text = std::move(text)},
      on_change_(std::move(on_change)),
      next_look_(loop, [this] { look(); }) {
  next_look_.arm(kInterval);
}

ConfigFile::~ConfigFile() {
  if (running_ != nullptr) running_->owner = nullptr;
}

void ConfigFile::look() {
  queue([this](const Reading& reading) {
    is_settling_ = reading.is_changed && !is_settling_;
    next_look_.arm(is_settling_ ? kSettleTime : kInterval);
    if (!reading.is_changed || is_settling_) return;
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
  waiting_.push_back(std::move(then));
  if (running_ == nullptr) start();
}

void ConfigFile::start() {
  auto job = std::make_unique<Job>();
  job->request.data = job.get();
  job->file = file_;
  job->owner = this;
  job->then = std::exchange(waiting_, {});
  running_ = job.get();
  const auto work = [](uv_work_t* request) {
    auto& reading = *static_cast<Job*>(request->data);
    try {
      reading.reading.text = read_config_text(reading.file);
    } catch (const std::system_error& error) {
      reading.reading.error = error.what();
    }
  };
  const auto done = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job> finished(static_cast<Job*>(request->data));
    if (finished->owner != nullptr) finished->owner->finish(*finished);
  };
  throw_if_failed(uv_queue_work(loop_.uv(), &job->request, work, done), "cannot queue a reading");
  static_cast<void>(job.release());  // libuv has it, until `done`
}

void ConfigFile::finish(const Job& job) {
  running_ = nullptr;
  Reading reading = job.reading;
  reading.is_changed = reading.text != last_.text || reading.error != last_.error;
  for (const OnReading& then : job.then) then(reading);
  if (!waiting_.empty()) start();
}

}  // namespace bellwether
