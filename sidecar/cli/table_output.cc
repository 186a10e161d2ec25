// The table for people and as CSV.
#include "cli/table_output.hh"

#include <array>
#include <string>

namespace bellwether::cli {
namespace {

using simulator::TableRow;

constexpr std::array kCounts{&TableRow::election, &TableRow::answer, &TableRow::handover,
                             &TableRow::coordinator};
constexpr std::array kHeads{"processes", "election", "answer", "handover", "coordinator", "total"};
constexpr size_t kTableGap = 3;  // between columns
constexpr size_t kExpectedWidth = 10;
constexpr const char* kMark = "  <-- differs";

// Right-aligned.
std::string cell(const std::string& text, size_t width) {
  return std::string(text.size() < width ? width - text.size() : 1, ' ') + text;
}

size_t width_of(size_t column) { return std::string_view(kHeads[column]).size() + kTableGap; }

void print_heads(std::ostream& out, const TableRow& row) {
  out << "\n" << row.variant << "\n";
  for (size_t i = 0; i < kHeads.size(); ++i) out << cell(kHeads[i], width_of(i));
  if (row.expected) out << cell("formula", kExpectedWidth);
  out << "\n";
}

void print_row(std::ostream& out, const TableRow& row) {
  size_t column = 0;
  const auto put = [&](uint64_t number) {
    out << cell(std::to_string(number), width_of(column));
    ++column;
  };
  put(row.processes);
  for (const auto count : kCounts) put(row.*count);
  put(row.total());
  if (row.expected) out << cell(std::to_string(*row.expected), kExpectedWidth);
  out << (is_as_expected(row) ? "" : kMark) << "\n";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

bool is_as_expected(const TableRow& row) { return !row.expected || *row.expected == row.total(); }

void print_table(std::ostream& out, const std::string& title, const std::vector<TableRow>& rows) {
  out << title << "\n";
  const TableRow* previous = nullptr;
  bool has_closed_form = false;
  bool is_all_right = true;
  for (const TableRow& row : rows) {
    if (previous == nullptr || previous->variant != row.variant) print_heads(out, row);
    print_row(out, row);
    previous = &row;
    has_closed_form = has_closed_form || row.expected.has_value();
    is_all_right = is_all_right && is_as_expected(row);
  }
  if (has_closed_form && is_all_right) out << "\nEvery total is its closed form.\n";
}

void print_csv(std::ostream& out, const std::vector<TableRow>& rows) {
  out << "variant,processes,election,answer,handover,coordinator,total,expected\n";
  for (const TableRow& row : rows) {
    out << csv_field(row.variant) << "," << std::to_string(row.processes);
    for (const auto count : kCounts) out << "," << std::to_string(row.*count);
    out << "," << std::to_string(row.total()) << ",";
    if (row.expected) out << std::to_string(*row.expected);
    out << "\n";
  }
}

}  // namespace bellwether::cli
