// Escape sequences that every terminal knows: bold, faint, and the first eight colours.
#include "cli/styled_text.hh"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cli/choice_option.hh"

namespace bellwether::cli {
namespace {

constexpr const char* kReset = "\x1b[0m";

constexpr PerValue<Style, const char*> kSequences({"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m",
                                                   "\x1b[1;31m"});

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

constexpr size_t kGap = 2;  // between columns

std::vector<size_t> column_widths(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text.size());
  }
  return widths;
}

}  // namespace

void add_colour_option(CLI::App& app, ColourChoice& choice) {
  add_choice(app, "--color", choice,
             {{"auto", ColourChoice::kAuto},
              {"always", ColourChoice::kAlways},
              {"never", ColourChoice::kNever}},
             "auto (the default: on a terminal, unless\nNO_COLOR is set), always or never")
      ->option_text("WHEN");
}

bool has_colour(ColourChoice choice) {
  if (choice != ColourChoice::kAuto) return choice == ColourChoice::kAlways;
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(STDOUT_FILENO) == 1 && !is_dumb && !is_set("NO_COLOR");
}

std::string to_text(const Line& line, bool is_coloured, size_t width) {
  std::string text;
  for (const Span& span : line) {
    const std::string visible = span.text.substr(0, width);
    width -= visible.size();
    const bool is_styled = is_coloured && span.style != Style::kPlain && !visible.empty();
    text += is_styled ? kSequences[span.style] + visible + kReset : visible;
  }
  return text;
}

ScreenSize screen_size(int fd) {
  winsize size{};
  const bool is_known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  return is_known ? ScreenSize{size.ws_col, size.ws_row} : ScreenSize{};
}

size_t line_width() {
  return ::isatty(STDOUT_FILENO) == 1 ? screen_size(STDOUT_FILENO).columns : kAnyWidth;
}

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (text.size() - begin > width) {
    size_t blank = text.rfind(' ', begin + width);
    if (blank == std::string::npos || blank <= begin) blank = text.find(' ', begin + width);
    if (blank == std::string::npos) break;
    lines.push_back(text.substr(begin, blank - begin));
    begin = blank + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

void add_wrapped(Line margin, const Span& text, size_t width, std::vector<Line>& lines) {
  constexpr size_t kNarrowest = 20;
  size_t indent = 0;
  for (const Span& span : margin) indent += span.text.size();
  const size_t room = width == kAnyWidth ? width : std::max(width, indent + kNarrowest) - indent;
  for (const std::string& part : wrapped(text.text, room)) {
    margin.emplace_back(part, text.style);
    lines.push_back(std::exchange(margin, {std::string(indent, ' ')}));
  }
}

std::vector<Line> aligned(const std::vector<Row>& rows) {
  const std::vector<size_t> widths = column_widths(rows);
  std::vector<Line> lines;
  for (const Row& row : rows) {
    Line line;
    for (size_t i = 0; i < row.size(); ++i) {
      line.push_back(row[i]);
      line.emplace_back(std::string(widths[i] + kGap - row[i].text.size(), ' '));
    }
    // Down to the last cell that says something.
    while (!line.empty() && line.back().text.find_first_not_of(' ') == std::string::npos) {
      line.pop_back();
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

size_t width_of(const std::vector<Row>& rows) {
  size_t width = 0;
  for (const size_t each : column_widths(rows)) width += each + kGap;
  return width < kGap ? 0 : width - kGap;
}

}  // namespace bellwether::cli
