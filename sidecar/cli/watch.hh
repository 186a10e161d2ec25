// `bellwether watch`: the group as it lives, until the user has seen enough.
#pragma once

#include "cli/api_address.hh"
#include "cli/exit_code.hh"

namespace bellwether::cli {

// On a terminal a page that is drawn anew, elsewhere a line for each change; `is_once`: the page as
// it is now, and that is all.  Ends with Ctrl-C.  Throws ApiError when nobody answers at first; a
// sidecar that goes later is waited for.
ExitCode watch(const ApiAddress& address, bool is_once);

}  // namespace bellwether::cli
