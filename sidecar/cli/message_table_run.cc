// `bellwether simulate` without files: measures each size with each variant, prints what was
// counted, and fails when a count is not what the literature proves.
#include <iostream>
#include <sstream>

#include "cli/progress.hh"
#include "cli/simulate.hh"
#include "cli/table_output.hh"
#include "cli/text_file.hh"
#include "core/plugin_facts.hh"
#include "simulator/plot.hh"

namespace bellwether::cli {
namespace {

using simulator::Initiator;
using simulator::TableRow;

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

std::string title_of(Initiator initiator) {
  return std::string("Messages of one election, after the highest process died and ") +
         name(initiator);
}

void print(const SimulateOptions& options, const std::vector<TableRow>& rows) {
  switch (options.format) {
    case Format::kTable:
      return print_table(std::cout, title_of(options.initiator), rows);
    case Format::kCsv:
      return print_csv(std::cout, rows);
    case Format::kJson:
      return print_json(std::cout, rows);
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
