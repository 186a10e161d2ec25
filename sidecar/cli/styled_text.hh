// Text for a terminal: what is said, and apart from it how it looks.  Widths are those of the text;
// colour is added last, and only where somebody sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/names.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

enum class Style : uint8_t { kPlain, kStrong, kFaint, kGood, kDoubtful, kBad, kLast = kBad };

// Plain text becomes one by itself, so that most tables need not know of styles.
struct Span {
  // NOLINTNEXTLINE(google-explicit-constructor): see above
  Span(std::string content, Style look = Style::kPlain) : text(std::move(content)), style(look) {}
  // NOLINTNEXTLINE(google-explicit-constructor): see above
  Span(const char* content, Style look = Style::kPlain) : text(content), style(look) {}

  std::string text;
  Style style;
};
using Line = std::vector<Span>;

enum class ColourChoice : uint8_t { kAuto, kAlways, kNever };

// Adds --color to a subcommand.  Parsing fills `choice`, which must outlive `app`.
void add_colour_option(CLI::App& app, ColourChoice& choice);

// Whether to write colours to stdout: by default when it is a terminal that can show them, and the
// user has not set NO_COLOR (https://no-color.org).
bool has_colour(ColourChoice choice);

inline constexpr size_t kAnyWidth = SIZE_MAX;

// At most `width` characters of it, and its styles if `is_coloured`.
std::string to_text(const Line& line, bool is_coloured, size_t width = kAnyWidth);

// Of a terminal; 80 by 24 when it does not say.
struct ScreenSize {
  size_t columns = 80;
  size_t rows = 24;
};
ScreenSize screen_size(int fd);

// How wide a line on stdout may be: anything goes into a pipe.
size_t line_width();

// `text` in lines of at most `width` characters, broken at blanks; a longer word has its own line.
std::vector<std::string> wrapped(const std::string& text, size_t width);

// `text` behind `margin`, in lines of at most `width` characters unless that is very narrow; what
// does not fit goes on below itself.
void add_wrapped(Line margin, const Span& text, size_t width, std::vector<Line>& lines);

using Row = std::vector<Span>;

// What it is about, and what is said of that.
inline Row headed(const std::string& head, Span what) {
  return {Span(head, Style::kFaint), std::move(what)};
}

// A line for each row, left-aligned, without blanks at the end.
std::vector<Line> aligned(const std::vector<Row>& rows);

// How wide the lines would be.
size_t width_of(const std::vector<Row>& rows);

}  // namespace bellwether::cli
