// spdlog brings the thread and its bounded queue; what a line looks like is ours: text is for
// eyes, so values are quoted only where they must be; JSON is made by the library.
#include "daemon/log.hh"

#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/loop/loop.hh"

namespace bellwether::daemon {
namespace {

enum class Quotes : uint8_t { kAsTheyAre, kEscaped };

void append_escaped(std::string& line, std::string_view text, Quotes quotes) {
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (quotes == Quotes::kEscaped && (character == '"' || character == '\\')) {
      line += '\\';
      line += character;
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += character;
    }
  }
}

bool needs_quotes(std::string_view text) {
  return text.empty() || std::any_of(text.begin(), text.end(), [](char character) {
           return static_cast<unsigned char>(character) <= 0x20 || character == '"' ||
                  character == '\\' || character == '=' || character == 0x7f;
         });
}

// About 400 bytes each, taken at once.
constexpr size_t kQueuedLines = 1024;

// Of each event, as many in a row as a large group has members, and then so often.
constexpr unsigned kLinesAtOnce = 1000;
constexpr Duration kBetweenLines = std::chrono::seconds(3);

// How long the end waits for a reader of stderr that has come to a halt, and how often it looks.
constexpr std::chrono::milliseconds kLogPatience(1000);
constexpr std::chrono::milliseconds kLookAtSinkAgain(1);

// A line that wakes this thread must not take the processor from the loop, which has something to
// say to its peers just then: in a hand-over that was a twentieth of the time.  In vain where that
// is forbidden, as by the shipped systemd unit.
void stand_back() {
  ::pthread_setname_np(::pthread_self(), "log");
  constexpr sched_param kNone{};
  // What an operator has chosen for the process is for all of it.
  if (::sched_getscheduler(0) == SCHED_OTHER) ::sched_setscheduler(0, SCHED_BATCH, &kNone);
}

// Writes to the file itself: a thread that is stuck in here holds no lock that exit() would want.
class StderrSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  // Lines that are written, or cannot be.
  uint64_t done() const { return done_; }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line(message.payload.data(), message.payload.size());
    line += '\n';
    for (size_t written = 0; written < line.size();) {
      const ssize_t count = ::write(STDERR_FILENO, line.data() + written, line.size() - written);
      if (count < 0 && errno == EAGAIN) {
        pollfd stderr_has_room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
        ::poll(&stderr_has_room, 1, -1);
      } else if (count < 0 && errno != EINTR) {
        break;
      }
      if (count > 0) written += static_cast<size_t>(count);
    }
    ++done_;
  }
  void flush_() override {}

  std::atomic<uint64_t> done_ = 0;
};

}  // namespace

std::string text_line(WallTime time, LogLevel level, const LogContext& context,
                      std::string_view event, LogFields fields) {
  std::string line =
      fmt::format("{} {:5} {} epoch={} ", rfc3339(time), name(level), context.node, context.epoch);
  append_escaped(line, event, Quotes::kAsTheyAre);
  for (const LogField& field : fields) {
    line += fmt::format(" {}=", field.key);
    const bool is_quoted = needs_quotes(field.value);
    if (is_quoted) line += '"';
    append_escaped(line, field.value, Quotes::kEscaped);
    if (is_quoted) line += '"';
  }
  return line;
}

std::string json_line(WallTime time, LogLevel level, const LogContext& context,
                      std::string_view event, LogFields fields) {
  nlohmann::ordered_json line{{"time", rfc3339(time)},
                              {"level", name(level)},
                              {"node", context.node},
                              {"epoch", context.epoch},
                              {"event", event}};
  for (const LogField& field : fields) line[field.key] = field.value;
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class Log::Backend {
 public:
  Backend()
      : pool_(std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1, stand_back)),
        sink_(std::make_shared<StderrSink>()),
        logger_(std::make_shared<spdlog::async_logger>(
            "", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest)) {}
  // Its end waits for the thread, for ever if need be.
  ~Backend() { pool_.reset(); }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  void write(const std::string& line) {
    logger_->log(spdlog::level::critical, line);
    ++taken_;
  }
  // False when the last lines have not been written in time.
  bool is_written_soon() const {
    for (auto waited = kLookAtSinkAgain; sink_->done() + lost() < taken_;
         waited += kLookAtSinkAgain) {
      if (waited > kLogPatience) return false;
      std::this_thread::sleep_for(kLookAtSinkAgain);
    }
    return true;
  }
  uint64_t lost() const { return pool_->overrun_counter(); }

 private:
  // Shared, because spdlog's lines in flight own their logger, which knows the pool.
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<StderrSink> sink_;
  std::shared_ptr<spdlog::async_logger> logger_;
  uint64_t taken_ = 0;
};

Log::Log(const LogSettings& settings)
    : settings_(settings),
      limit_(kLinesAtOnce, kBetweenLines),
      backend_(std::make_unique<Backend>()) {}

// A thread that cannot get rid of its line is left behind, with all that it needs: it must not keep
// the process, whose peers and supervisor wait for its end.
Log::~Log() {
  if (backend_->is_written_soon()) return;
  [[maybe_unused]] static const Backend* const kLeftBehind = backend_.release();
}

void Log::write_of(std::string_view kind, LogLevel level, std::string_view event,
                   LogFields fields) {
  if (level < settings_.level) return;
  // Debug lines are written as they come: somebody has asked for them, for a while.
  if (level < LogLevel::kInfo) return write_line(level, event, fields);
  const auto left_out = limit_.admit(io::Loop::now(), kind);
  if (!left_out) {
    ++left_out_;
    return;
  }
  if (*left_out > 0) {
    write_line(LogLevel::kWarn, "left out lines that came too often",
               {{"of", std::string(kind)}, {"lines", std::to_string(*left_out)}});
  }
  write_line(level, event, fields);
}

void Log::write_line(LogLevel level, std::string_view event, LogFields fields) {
  const auto time = std::chrono::system_clock::now();
  const auto make_line = settings_.format == LogFormat::kJson ? json_line : text_line;
  backend_->write(make_line(time, level, context_, event, fields));
}

uint64_t Log::lost() const { return backend_->lost(); }

}  // namespace bellwether::daemon
