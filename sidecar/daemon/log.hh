// The log: one event a line on stderr, for people or as JSON.
//
// A line is handed to a thread of its own, so a reader of stderr that has come to a halt cannot
// stop the event loop.  That thread keeps a bounded number of lines; beyond it the oldest are lost,
// and counted.  An event that comes without an end is left out, but for a few lines a minute:
// nobody can fill a disk through the log, unless its level is debug or trace.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/wall_time.hh"
#include "config/config.hh"
#include "daemon/line_limit.hh"

namespace bellwether::daemon {

// What every line says beside the event.
struct LogContext {
  std::string node;
  uint64_t epoch = 0;
};

// A detail of an event: peer=orders-1.
struct LogField {
  const char* key;
  std::string value;
};
using LogFields = std::initializer_list<LogField>;

class Log {
 public:
  explicit Log(const LogSettings& settings);
  // Writes what is left; after a second without a reader of stderr what is left is lost.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // From the next line on.
  void configure(const LogSettings& settings) { settings_ = settings; }
  void set_node(std::string name) { context_.node = std::move(name); }
  void set_epoch(uint64_t epoch) { context_.epoch = epoch; }

  // One thread at a time.  `event` tells what happened, in the past tense.
  void write(LogLevel level, std::string_view event, LogFields fields = {}) {
    write_of(event, level, event, fields);
  }
  // Where one event has several kinds, and each of them is to be seen: what comes too often is left
  // out by its kind.
  void write_of(std::string_view kind, LogLevel level, std::string_view event,
                LogFields fields = {});

  // Lines that were lost because stderr was not read.
  uint64_t lost() const;
  // Lines that were not written because there were too many of their event.
  uint64_t left_out() const { return left_out_; }

 private:
  class Backend;

  void write_line(LogLevel level, std::string_view event, LogFields fields);

  LogSettings settings_;
  LogContext context_;
  LineLimit limit_;  // of each kind
  uint64_t left_out_ = 0;
  std::unique_ptr<Backend> backend_;
};

// How a line looks; both are pure.
//
// 2026-11-21T12:45:00.123Z info  orders-0 epoch=7 took the lead reason="claimed"
// What comes from outside and is not printable is escaped, so one event stays one line.
std::string text_line(WallTime time, LogLevel level, const LogContext& context,
                      std::string_view event, LogFields fields);

// {"time":"…","level":"info","node":"orders-0","epoch":7,"event":"took the
// lead","reason":"claimed"}
std::string json_line(WallTime time, LogLevel level, const LogContext& context,
                      std::string_view event, LogFields fields);

}  // namespace bellwether::daemon
