// What `bellwether status` shows of the sidecar's answers.
#pragma once

#include <cstddef>
#include <vector>

#include "base/json.hh"
#include "cli/styled_text.hh"

namespace bellwether::cli {

// From the bodies of /v1/leader, /v1/status and /v1/members: who leads, how this node is, and the
// table of members, which loses columns where it is wider than `width`.
std::vector<Line> status_lines(const Json& leader, const Json& status, const Json& members,
                               size_t width);

}  // namespace bellwether::cli
