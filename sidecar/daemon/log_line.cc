// Text is for eyes, so values are quoted only where they must be; JSON is made by the library.
#include "daemon/log_line.hh"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/wall_time.hh"

namespace bellwether {
namespace {

const char* name(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return "trace";
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "?";
}

enum class Quotes : uint8_t { kAsTheyAre, kEscaped };

void append_escaped(std::string& line, std::string_view text, Quotes quotes) {
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (quotes == Quotes::kEscaped && (character == '"' || character == '\\')) {
      line += '\\';
      line += character;
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 5> code{};
      std::snprintf(code.data(), code.size(), "\\x%02x", byte);
      line += code.data();
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

}  // namespace

std::string text_line(std::chrono::system_clock::time_point time, LogLevel level,
                      const LogContext& context, std::string_view event,
                      std::initializer_list<LogField> fields) {
  constexpr size_t kLevelWidth = 5;
  std::string line = rfc3339(time) + " ";
  std::string level_name = name(level);
  level_name.resize(kLevelWidth, ' ');
  line += level_name + " " + context.node + " epoch=" + std::to_string(context.epoch) + " ";
  append_escaped(line, event, Quotes::kAsTheyAre);
  for (const LogField& field : fields) {
    line += std::string(" ") + field.key + "=";
    const bool is_quoted = needs_quotes(field.value);
    if (is_quoted) line += '"';
    append_escaped(line, field.value, Quotes::kEscaped);
    if (is_quoted) line += '"';
  }
  return line;
}

std::string json_line(std::chrono::system_clock::time_point time, LogLevel level,
                      const LogContext& context, std::string_view event,
                      std::initializer_list<LogField> fields) {
  nlohmann::ordered_json line{{"time", rfc3339(time)},
                              {"level", name(level)},
                              {"node", context.node},
                              {"epoch", context.epoch},
                              {"event", event}};
  for (const LogField& field : fields) line[field.key] = field.value;
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace bellwether
