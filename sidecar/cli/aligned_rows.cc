// Two passes: how wide, then the lines.
#include "cli/aligned_rows.hh"

#include <algorithm>

namespace bellwether::cli {
namespace {

constexpr size_t kGap = 2;  // between columns

}  // namespace

std::vector<std::string> aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] + kGap - row[i].size(), ' ');
    }
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return lines;
}

}  // namespace bellwether::cli
