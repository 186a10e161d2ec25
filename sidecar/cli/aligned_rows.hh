// Tables for people: columns as wide as what is in them.
#pragma once

#include <string>
#include <vector>

namespace bellwether::cli {

using Row = std::vector<std::string>;

// A line for each row, left-aligned, without line breaks or blanks at the end.
std::vector<std::string> aligned(const std::vector<Row>& rows);

}  // namespace bellwether::cli
