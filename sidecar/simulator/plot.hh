// Draws messages over processes, one curve a variant, as an SVG.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "simulator/message_table.hh"

namespace bellwether::simulator {

// `initiator`: who noticed, in all rows.  `variants`: all that the plugin has; each looks the same
// in every figure, whatever is drawn beside it.
void draw_plot(std::ostream& out, const std::vector<TableRow>& rows, Initiator initiator,
               const std::vector<std::string>& variants);

}  // namespace bellwether::simulator
