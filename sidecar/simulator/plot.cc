// The figure is plain text: a style block, the axes, and for each variant a line, its points and
// its name at the line's end.  What decides its looks stands in the constants and the style block.
#include "simulator/plot.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace bellwether::simulator {
namespace {

constexpr double kWidth = 800;
constexpr double kHeight = 500;
constexpr double kTop = 122;
constexpr double kBottom = 438;
constexpr double kMargin = 28;
constexpr double kTickLabelGap = 10;
constexpr double kLabelGap = 14;
// Estimates: nobody knows here how wide the reader's font is.
constexpr double kDigitWidth = 7.4;
constexpr double kNameWidth = 8.6;
constexpr double kMaxLabelWidth = 260;
constexpr double kLabelHeight = 40;
constexpr double kLabelDescent = 18;  // of the second line, below the middle
constexpr uint64_t kWishedTicks = 6;
constexpr double kDenseDistance = 16;  // of points
constexpr size_t kStyles = 4;

// Both halves of the style: colours for a light page, and what a dark one changes.  The colours of
// the curves differ in lightness, too, and each curve has a marker of its own shape.
constexpr const char* kStyle = R"(<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue",
         Arial, sans-serif; font-size: 13px; fill: #59636e; font-variant-numeric: tabular-nums }
  .page { fill: #ffffff }
  .heading { font-size: 20px; font-weight: 600; fill: #1f2328 }
  .subtitle { font-size: 14px }
  .grid { stroke: #e4e8ec; stroke-width: 1 }
  .axis { stroke: #8c959f; stroke-width: 1.25 }
  .x-tick { text-anchor: middle }
  .y-tick { text-anchor: end }
  .curve { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round }
  .double { stroke-dasharray: 9 9; stroke-linecap: butt }
  .points { stroke: #ffffff; stroke-width: 1.5 }
  .plain { stroke: none }
  .name { font-size: 15px; font-weight: 600 }
  .name, .count { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }
  .curve-0 { stroke: #c2410c } .points-0, .name-0 { fill: #c2410c }
  .curve-1 { stroke: #1d5fd1 } .points-1, .name-1 { fill: #1d5fd1 }
  .curve-2 { stroke: #0f766e } .points-2, .name-2 { fill: #0f766e }
  .curve-3 { stroke: #86198f } .points-3, .name-3 { fill: #86198f }
  @media (prefers-color-scheme: dark) {
    text { fill: #9aa4ae }
    .page { fill: #0f1419 }
    .heading { fill: #e8ecf0 }
    .grid { stroke: #252c34 }
    .axis { stroke: #6b7580 }
    .points, .name, .count { stroke: #0f1419 }
    .plain { stroke: none }
    .curve-0 { stroke: #fb923c } .points-0, .name-0 { fill: #fb923c }
    .curve-1 { stroke: #79a8ff } .points-1, .name-1 { fill: #79a8ff }
    .curve-2 { stroke: #2dd4bf } .points-2, .name-2 { fill: #2dd4bf }
    .curve-3 { stroke: #e879f9 } .points-3, .name-3 { fill: #e879f9 }
  }
</style>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // Control characters are not allowed in XML, not even escaped.
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return result;
}

// A coordinate: one decimal, whatever the locale.
std::string at(double coordinate) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.begin(), text.end(), coordinate, std::chars_format::fixed, 1);
  return {text.begin(), end.ptr};
}

// 998999 as people read it: 998,999.
std::string grouped(uint64_t number) {
  constexpr size_t kGroup = 3;
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % kGroup == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// The round numbers at which an axis is marked, and between which it runs.
struct Axis {
  uint64_t first = 0;
  uint64_t last = 1;
  uint64_t step = 1;
};

// 1, 2 or 5 times a power of ten, so that about kWishedTicks steps cover `range`.
uint64_t round_step(uint64_t range) {
  uint64_t power = 1;
  while (true) {
    for (const uint64_t digit : {1u, 2u, 5u}) {
      if (digit * power * kWishedTicks >= range) return digit * power;
    }
    power *= 10;
  }
}

// From zero, unless all values are far from it.
Axis make_axis(uint64_t lowest, uint64_t highest, bool may_begin_late) {
  constexpr uint64_t kFar = 3;
  const bool begins_late = may_begin_late && lowest < highest && lowest * kFar >= highest;
  const uint64_t begin = begins_late ? lowest : 0;
  const uint64_t step = round_step(highest - begin);
  const uint64_t last = std::max((highest + step - 1) / step, uint64_t{1}) * step;
  return {.first = begin / step * step, .last = last, .step = step};
}

struct Point {
  double x;
  double y;
};

// What one variant shows.
struct Curve {
  std::string variant;
  std::vector<TableRow> rows;  // by rising size
  size_t style;
  bool is_double = false;  // runs where an earlier one runs, too
};

// Whether one curve would hide the other.
bool coincide(const Curve& a, const Curve& b) {
  return std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(),
                    [](const TableRow& one, const TableRow& other) {
                      return one.processes == other.processes && one.total() == other.total();
                    });
}

size_t style_of(const std::string& variant, const std::vector<std::string>& variants) {
  const auto place = std::find(variants.begin(), variants.end(), variant) - variants.begin();
  return static_cast<size_t>(place) % kStyles;
}

std::vector<Curve> curves_of(const std::vector<TableRow>& rows,
                             const std::vector<std::string>& variants) {
  std::vector<Curve> curves;
  for (const TableRow& row : rows) {
    auto curve = std::find_if(curves.begin(), curves.end(),
                              [&](const Curve& other) { return other.variant == row.variant; });
    if (curve == curves.end()) {
      curve = curves.insert(
          curve, {.variant = row.variant, .rows = {}, .style = style_of(row.variant, variants)});
    }
    curve->rows.push_back(row);
  }
  for (Curve& curve : curves) {
    std::stable_sort(
        curve.rows.begin(), curve.rows.end(),
        [](const TableRow& a, const TableRow& b) { return a.processes < b.processes; });
  }
  for (auto curve = curves.begin(); curve != curves.end(); ++curve) {
    curve->is_double = std::any_of(curves.begin(), curve,
                                   [&](const Curve& earlier) { return coincide(earlier, *curve); });
  }
  return curves;
}

class Figure {
 public:
  Figure(std::ostream& out, const std::vector<TableRow>& rows, Initiator initiator,
         const std::vector<std::string>& variants)
      : out_(out), curves_(curves_of(rows, variants)), initiator_(initiator) {
    uint64_t fewest = UINT64_MAX;
    uint64_t largest = 0;
    uint64_t most = 0;
    size_t longest_name = 0;
    for (const TableRow& row : rows) {
      fewest = std::min<uint64_t>(fewest, row.processes);
      largest = std::max<uint64_t>(largest, row.processes);
      most = std::max(most, row.total());
      longest_name = std::max(longest_name, row.variant.size());
    }
    x_axis_ = make_axis(fewest, largest, true);
    y_axis_ = make_axis(0, most, false);
    left_ =
        kMargin + kDigitWidth * static_cast<double>(grouped(y_axis_.last).size()) + kTickLabelGap;
    const double name_width = kNameWidth * static_cast<double>(longest_name);
    const double count_width =
        kDigitWidth * static_cast<double>((grouped(most) + " messages").size());
    right_ =
        kWidth - kMargin - kLabelGap - std::min(std::max(name_width, count_width), kMaxLabelWidth);
  }

  void draw() const {
    draw_head();
    draw_grid();
    for (const Curve& curve : curves_) draw_curve(curve);
    draw_names();
    out_ << "</svg>\n";
  }

 private:
  double x(uint64_t processes) const {
    return left_ + (right_ - left_) * static_cast<double>(processes - x_axis_.first) /
                       static_cast<double>(x_axis_.last - x_axis_.first);
  }
  double y(uint64_t messages) const {
    return kBottom -
           (kBottom - kTop) * static_cast<double>(messages) / static_cast<double>(y_axis_.last);
  }
  Point point(const TableRow& row) const { return {x(row.processes), y(row.total())}; }

  void text(const std::string& css_class, double x, double y, const std::string& content) const {
    out_ << "<text class=\"" << css_class << "\" x=\"" << at(x) << "\" y=\"" << at(y) << "\">"
         << escaped(content) << "</text>\n";
  }

  void line(const char* css_class, Point from, Point to) const {
    out_ << "<line class=\"" << css_class << "\" x1=\"" << at(from.x) << "\" y1=\"" << at(from.y)
         << "\" x2=\"" << at(to.x) << "\" y2=\"" << at(to.y) << "\"/>\n";
  }

  // For those who do not see the figure: where each curve begins and ends.
  std::string description() const {
    std::string description = "A line chart of messages over the number of processes.";
    for (const Curve& curve : curves_) {
      const TableRow& first = curve.rows.front();
      const TableRow& last = curve.rows.back();
      description += " " + curve.variant + ": " + grouped(first.total()) + " messages with " +
                     grouped(first.processes) + " processes";
      if (curve.rows.size() > 1) {
        description += ", " + grouped(last.total()) + " with " + grouped(last.processes);
      }
      description += ".";
    }
    return description;
  }

  std::string subtitle() const {
    return std::string("every message counted, after the highest process died and ") +
           name(initiator_);
  }

  void draw_head() const {
    constexpr const char* kTitle = "Messages of one election";
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << at(kWidth) << " "
         << at(kHeight) << "\" width=\"" << at(kWidth) << "\" height=\"" << at(kHeight)
         << "\" role=\"img\" aria-labelledby=\"title description\" "
         << "style=\"max-width: 100%; height: auto\">\n"
         << "<title id=\"title\">" << kTitle << "</title>\n"
         << "<desc id=\"description\">" << escaped(description()) << "</desc>\n"
         << kStyle << "<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n";
    text("heading", kMargin, 42, kTitle);
    text("subtitle", kMargin, 66, subtitle());
  }

  void draw_grid() const {
    for (uint64_t tick = y_axis_.first; tick <= y_axis_.last; tick += y_axis_.step) {
      if (tick > 0) line("grid", {left_, y(tick)}, {right_, y(tick)});
      text("y-tick", left_ - kTickLabelGap, y(tick) + 4.5, grouped(tick));
    }
    for (uint64_t tick = x_axis_.first; tick <= x_axis_.last; tick += x_axis_.step) {
      if (tick > x_axis_.first) line("grid", {x(tick), kTop}, {x(tick), kBottom});
      line("axis", {x(tick), kBottom}, {x(tick), kBottom + 5});
      text("x-tick", x(tick), kBottom + 22, grouped(tick));
    }
    line("axis", {left_, kBottom}, {right_, kBottom});
    text("y-title", kMargin, kTop - 20, "messages");
    text("x-title x-tick", (left_ + right_) / 2, kBottom + 46,
         "processes in the group, the dead one included");
  }

  void draw_curve(const Curve& curve) const {
    const std::string style = std::to_string(curve.style);
    out_ << "<polyline class=\"curve curve-" << style << (curve.is_double ? " double" : "")
         << "\" points=\"";
    const char* separator = "";
    for (const TableRow& row : curve.rows) {
      out_ << separator << at(point(row).x) << "," << at(point(row).y);
      separator = " ";
    }
    out_ << "\"/>\n";
    // Markers must not melt into each other, nor cover those of a curve that runs here, too.
    const double distance = (right_ - left_) / static_cast<double>(curve.rows.size());
    const double radius = std::clamp(distance / 4, 1.25, 5.0) * (curve.is_double ? 0.6 : 1);
    const bool is_plain = curve.is_double || distance < kDenseDistance;
    out_ << "<g class=\"points points-" << style << (is_plain ? " plain" : "") << "\">\n";
    for (const TableRow& row : curve.rows) draw_marker(curve, row, radius);
    out_ << "</g>\n";
  }

  // A shape for each style, in turn: circle, square, diamond, triangle.
  void draw_marker(const Curve& curve, const TableRow& row, double radius) const {
    const Point centre = point(row);
    const auto corner = [&](double dx, double dy) {
      return at(centre.x + dx * radius) + "," + at(centre.y + dy * radius);
    };
    switch (curve.style) {
      case 0:
        out_ << "<circle cx=\"" << at(centre.x) << "\" cy=\"" << at(centre.y) << "\" r=\""
             << at(radius) << "\">";
        break;
      case 1:
        out_ << "<path d=\"M" << corner(-.9, -.9) << " " << corner(.9, -.9) << " " << corner(.9, .9)
             << " " << corner(-.9, .9) << "z\">";
        break;
      case 2:
        out_ << "<path d=\"M" << corner(0, -1.3) << " " << corner(1.3, 0) << " " << corner(0, 1.3)
             << " " << corner(-1.3, 0) << "z\">";
        break;
      default:
        out_ << "<path d=\"M" << corner(0, -1.2) << " " << corner(1.2, 1) << " " << corner(-1.2, 1)
             << "z\">";
    }
    // Shown when the pointer rests on it.
    out_ << "<title>" << escaped(curve.variant) << ", " << grouped(row.processes)
         << " processes: " << grouped(row.total()) << " messages</title>"
         << (curve.style == 0 ? "</circle>\n" : "</path>\n");
  }

  // Each name stands at its curve's end, moved as far as needed to keep clear of the others.
  void draw_names() const {
    std::vector<const Curve*> from_below;
    for (const Curve& curve : curves_) from_below.push_back(&curve);
    // Of two that end at the same height the first is the upper.
    std::reverse(from_below.begin(), from_below.end());
    std::stable_sort(from_below.begin(), from_below.end(), [](const Curve* a, const Curve* b) {
      return a->rows.back().total() < b->rows.back().total();
    });
    std::vector<double> middles;
    for (const Curve* curve : from_below) {
      const double lowest =
          middles.empty() ? kBottom - kLabelDescent : middles.back() - kLabelHeight;
      middles.push_back(std::min(point(curve->rows.back()).y, lowest));
    }
    double highest = kTop;
    for (size_t i = middles.size(); i-- > 0;) {
      middles[i] = std::max(middles[i], highest);
      highest = middles[i] + kLabelHeight;
      const Curve& curve = *from_below[i];
      const TableRow& last = curve.rows.back();
      const double label_x = point(last).x + kLabelGap;
      text("name name-" + std::to_string(curve.style), label_x, middles[i] - 2, curve.variant);
      text("count", label_x, middles[i] + 15, grouped(last.total()) + " messages");
    }
  }

  std::ostream& out_;
  std::vector<Curve> curves_;
  Initiator initiator_;
  Axis x_axis_;
  Axis y_axis_;
  double left_ = 0;
  double right_ = 0;
};

}  // namespace

void draw_plot(std::ostream& out, const std::vector<TableRow>& rows, Initiator initiator,
               const std::vector<std::string>& variants) {
  Figure(out, rows, initiator, variants).draw();
}

}  // namespace bellwether::simulator
