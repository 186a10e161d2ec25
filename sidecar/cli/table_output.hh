// The table of messages in the forms in which it can be printed.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "simulator/message_table.hh"

namespace bellwether::cli {

// Whether the total is the closed form, where there is one.
bool is_as_expected(const simulator::TableRow& row);

// For people: aligned, one group a variant (rows of a variant follow each other), the closed form
// over its column, and a mark where a total differs from it.
void print_table(std::ostream& out, const std::string& title,
                 const std::vector<simulator::TableRow>& rows);

// RFC 4180, with a header; `expected` is empty where there is no closed form.
void print_csv(std::ostream& out, const std::vector<simulator::TableRow>& rows);

// An array of objects with the columns of the CSV; `expected` is null where there is no closed
// form.
void print_json(std::ostream& out, const std::vector<simulator::TableRow>& rows);

}  // namespace bellwether::cli
