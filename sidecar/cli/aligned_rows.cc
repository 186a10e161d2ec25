// Two passes: how wide, then the lines.
#include "cli/aligned_rows.hh"

#include <algorithm>

namespace bellwether::cli {
namespace {

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
