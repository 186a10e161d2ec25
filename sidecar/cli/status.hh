// `bellwether status`: who leads, how this node is, and who is there.
#pragma once

#include "cli/api_client.hh"
#include "cli/exit_code.hh"

namespace bellwether::cli {

// Prints it for people, or as one JSON object of the three answers.  Throws ApiError.
ExitCode print_status(ApiClient& client, bool is_json, bool is_coloured);

}  // namespace bellwether::cli
