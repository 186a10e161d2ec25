// spdlog brings the thread and its bounded queue; what a line looks like is ours (log_line.cc).
#include "daemon/log.hh"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>

#include "daemon/log_line.hh"
#include "io/loop.hh"

namespace bellwether {
namespace {

// About 400 bytes each, taken at once.
constexpr size_t kQueuedLines = 1024;

// Of each event, as many in a row as a large group has members, and then so often.
constexpr unsigned kLinesAtOnce = 1000;
constexpr Duration kBetweenLines = std::chrono::seconds(3);

}  // namespace

class Log::Backend {
 public:
  Backend()
      : pool_(std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1)),
        logger_(std::make_shared<spdlog::async_logger>(
            "", std::make_shared<spdlog::sinks::stderr_sink_mt>(), pool_,
            spdlog::async_overflow_policy::overrun_oldest)) {
    logger_->set_pattern("%v");
  }
  // Its end waits for the thread, which has written the last lines then.
  ~Backend() { pool_.reset(); }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  void write(const std::string& line) { logger_->log(spdlog::level::critical, line); }
  uint64_t lost() const { return pool_->overrun_counter(); }

 private:
  // Shared, because spdlog's lines in flight own their logger, which knows the pool.
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::async_logger> logger_;
};

Log::Log(const LogSettings& settings)
    : settings_(settings),
      limit_(kLinesAtOnce, kBetweenLines),
      backend_(std::make_unique<Backend>()) {}

Log::~Log() = default;

void Log::configure(const LogSettings& settings) { settings_ = settings; }

void Log::write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (level < settings_.level) return;
  // Debug lines are written as they come: somebody has asked for them, for a while.
  if (level < LogLevel::kInfo) return write_line(level, event, fields);
  const auto left_out = limit_.admit(Loop::now(), event);
  if (!left_out) {
    ++left_out_;
    return;
  }
  if (*left_out > 0) {
    write_line(LogLevel::kWarn, "left out lines that came too often",
               {{"of", std::string(event)}, {"lines", std::to_string(*left_out)}});
  }
  write_line(level, event, fields);
}

void Log::write_line(LogLevel level, std::string_view event,
                     std::initializer_list<LogField> fields) {
  const auto time = std::chrono::system_clock::now();
  const auto make_line = settings_.format == LogFormat::kJson ? json_line : text_line;
  backend_->write(make_line(time, level, context_, event, fields));
}

uint64_t Log::lost() const { return backend_->lost(); }

}  // namespace bellwether
