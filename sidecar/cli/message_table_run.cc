// `bellwether simulate` without files: measures each size with each variant, prints what was
// counted, and fails when a count is not what the literature proves.
#include <array>
#include <iostream>
#include <sstream>
#include <string>

#include "base/json.hh"
#include "cli/progress.hh"
#include "cli/simulate.hh"
#include "cli/text_file.hh"
#include "core/plugin_facts.hh"
#include "simulator/plot.hh"

namespace bellwether::cli {
namespace {

using simulator::Initiator;
using simulator::TableRow;

constexpr std::array kCounts{&TableRow::election, &TableRow::answer, &TableRow::handover,
                             &TableRow::coordinator};
constexpr std::array kCountHeads{"processes", "election",    "answer",
                                 "handover",  "coordinator", "total"};
constexpr size_t kTableGap = 3;  // between columns
constexpr size_t kExpectedWidth = 10;
constexpr const char* kMark = "  <-- differs";

// Whether the total is the closed form, where there is one.
bool is_as_expected(const TableRow& row) { return !row.expected || *row.expected == row.total(); }

// Right-aligned.
std::string cell(const std::string& text, size_t width) {
  return std::string(text.size() < width ? width - text.size() : 1, ' ') + text;
}

size_t width_of(size_t column) { return std::string_view(kCountHeads[column]).size() + kTableGap; }

void print_heads(const TableRow& row) {
  std::cout << "\n" << row.variant << "\n";
  for (size_t i = 0; i < kCountHeads.size(); ++i) std::cout << cell(kCountHeads[i], width_of(i));
  if (row.expected) std::cout << cell("formula", kExpectedWidth);
  std::cout << "\n";
}

void print_row(const TableRow& row) {
  size_t column = 0;
  const auto put = [&](uint64_t number) {
    std::cout << cell(std::to_string(number), width_of(column));
    ++column;
  };
  put(row.processes);
  for (const auto count : kCounts) put(row.*count);
  put(row.total());
  if (row.expected) std::cout << cell(std::to_string(*row.expected), kExpectedWidth);
  std::cout << (is_as_expected(row) ? "" : kMark) << "\n";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// For people: aligned, one group a variant (rows of a variant follow each other), the closed form
// over its column, and a mark where a total differs from it.
void print_table(Initiator initiator, const std::vector<TableRow>& rows) {
  std::cout << "Messages of one election, after the highest process died and " << name(initiator)
            << "\n";
  const TableRow* previous = nullptr;
  bool has_closed_form = false;
  bool is_all_right = true;
  for (const TableRow& row : rows) {
    if (previous == nullptr || previous->variant != row.variant) print_heads(row);
    print_row(row);
    previous = &row;
    has_closed_form = has_closed_form || row.expected.has_value();
    is_all_right = is_all_right && is_as_expected(row);
  }
  if (has_closed_form && is_all_right) std::cout << "\nEvery total is its closed form.\n";
}

// RFC 4180, with a header; `expected` is empty where there is no closed form.
void print_csv(const std::vector<TableRow>& rows) {
  std::cout << "variant,processes,election,answer,handover,coordinator,total,expected\n";
  for (const TableRow& row : rows) {
    std::cout << csv_field(row.variant) << "," << row.processes;
    for (const auto count : kCounts) std::cout << "," << row.*count;
    std::cout << "," << row.total() << ",";
    if (row.expected) std::cout << *row.expected;
    std::cout << "\n";
  }
}

// An array of objects with the columns of the CSV; `expected` is null where there is no closed
// form.
void print_json(const std::vector<TableRow>& rows) {
  Json array = Json::array();
  for (const TableRow& row : rows) {
    array.push_back({{"variant", row.variant},
                     {"processes", row.processes},
                     {"election", row.election},
                     {"answer", row.answer},
                     {"handover", row.handover},
                     {"coordinator", row.coordinator},
                     {"total", row.total()},
                     {"expected", row.expected ? Json(*row.expected) : Json(nullptr)}});
  }
  constexpr int kIndent = 2;
  std::cout << dump(array, kIndent) << "\n";
}

std::vector<TableRow> measure_all(const Simulation& simulation) {
  const SimulateOptions& options = simulation.options;
  Progress progress;
  std::vector<TableRow> rows;
  for (const std::string& variant : simulation.variants) {
    for (const uint32_t processes : options.processes) {
      rows.push_back(
          simulator::measure({.plugin = &simulation.plugin,
                              .variant = variant,
                              .processes = processes,
                              .initiator = options.initiator,
                              .seed = options.seed,
                              .progress = [&](const std::string& what) { progress.tell(what); }}));
    }
  }
  return rows;
}

void print(const SimulateOptions& options, const std::vector<TableRow>& rows) {
  switch (options.format) {
    case Format::kTable:
      return print_table(options.initiator, rows);
    case Format::kCsv:
      return print_csv(rows);
    case Format::kJson:
      return print_json(rows);
  }
}

// Every difference, one a line; true when there is none.
bool report_differences(const std::vector<TableRow>& rows) {
  bool is_all_right = true;
  for (const TableRow& row : rows) {
    if (is_as_expected(row)) continue;
    is_all_right = false;
    std::cout.flush();
    std::cerr << "bellwether: " << row.variant << " with " << row.processes
              << " processes: counted " << row.total() << ", the closed form gives "
              << *row.expected << "\n";
  }
  return is_all_right;
}

}  // namespace

ExitCode print_message_table(const Simulation& simulation) {
  const std::vector<TableRow> rows = measure_all(simulation);
  print(simulation.options, rows);
  if (!simulation.options.plot.empty()) {
    std::ostringstream figure;
    simulator::draw_plot(figure, rows, simulation.options.initiator,
                         variants_of(simulation.plugin));
    write_text_file(simulation.options.plot, figure.str());
  }
  return report_differences(rows) ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace bellwether::cli
