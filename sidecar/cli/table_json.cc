// The table as JSON; apart from the other forms because the library takes seconds to compile.
#include "base/json.hh"
#include "cli/table_output.hh"

namespace bellwether::cli {

void print_json(std::ostream& out, const std::vector<simulator::TableRow>& rows) {
  constexpr int kIndent = 2;
  Json array = Json::array();
  for (const simulator::TableRow& row : rows) {
    array.push_back({{"variant", row.variant},
                     {"processes", row.processes},
                     {"election", row.election},
                     {"answer", row.answer},
                     {"handover", row.handover},
                     {"coordinator", row.coordinator},
                     {"total", row.total()},
                     {"expected", row.expected ? Json(*row.expected) : Json(nullptr)}});
  }
  // The name of a variant comes from a plugin and may be anything.
  out << array.dump(kIndent, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace bellwether::cli
