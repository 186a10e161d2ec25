// Draws messages over processes, one curve a variant, as an SVG.
#pragma once

#include <ostream>
#include <vector>

#include "simulator/message_table.hh"

namespace bellwether::simulator {

// `initiator`: who noticed, in all rows.
void draw_plot(std::ostream& out, const std::vector<TableRow>& rows, Initiator initiator);

}  // namespace bellwether::simulator
