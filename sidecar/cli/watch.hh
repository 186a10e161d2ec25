// `bellwether watch`: the group as it lives, until the user has seen enough.
#pragma once

#include "cli/api_client.hh"
#include "cli/exit_code.hh"

namespace bellwether::cli {

struct WatchOptions {
  bool is_once = false;  // what is there now, and that is all
  bool is_json = false;  // an object on a line for each change
  bool is_coloured = false;
};

// On a terminal a page that is drawn anew, elsewhere a line for each change.  Ends with Ctrl-C.
// Throws ApiError when nobody answers at first; a sidecar that goes later is waited for.
ExitCode watch(ApiClient& client, const WatchOptions& options);

}  // namespace bellwether::cli
