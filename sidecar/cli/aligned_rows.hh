// Tables for people: columns as wide as what is in them.
#pragma once

#include <vector>

#include "cli/styled_text.hh"

namespace bellwether::cli {

using Row = std::vector<Span>;

// A line for each row, left-aligned, without blanks at the end.
std::vector<Line> aligned(const std::vector<Row>& rows);

// How wide the lines would be.
size_t width_of(const std::vector<Row>& rows);

}  // namespace bellwether::cli
