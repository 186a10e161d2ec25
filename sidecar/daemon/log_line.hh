// How a line of the log looks; pure.
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

#include "daemon/log.hh"

namespace bellwether {

// 2026-11-21T12:45:00.123Z info  orders-0 epoch=7 took the lead reason="claimed"
// What comes from outside and is not printable is escaped, so one event stays one line.
std::string text_line(std::chrono::system_clock::time_point time, LogLevel level,
                      const LogContext& context, std::string_view event,
                      std::initializer_list<LogField> fields);

// {"time":"…","level":"info","node":"orders-0","epoch":7,"event":"took the
// lead","reason":"claimed"}
std::string json_line(std::chrono::system_clock::time_point time, LogLevel level,
                      const LogContext& context, std::string_view event,
                      std::initializer_list<LogField> fields);

}  // namespace bellwether
