// The page of GET /ui.  The build joins it from the files of ui/ (ui/embed.cmake), so the sidecar
// needs no files beside its own.
#pragma once

#include <string_view>

namespace bellwether::api {

// HTML, complete: its style and scripts are inside, and it loads nothing but the API's answers.
std::string_view ui_page();

// Its Content-Security-Policy, by which a browser runs exactly these scripts and nothing that got
// into the page later.
std::string_view ui_policy();

}  // namespace bellwether::api
