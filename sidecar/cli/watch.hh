// `bellwether watch`: the group as it lives, until the user has seen enough.
#pragma once

#include <memory>
#include <string>

#include "base/json.hh"
#include "cli/api_address.hh"
#include "cli/exit_code.hh"
#include "cli/styled_text.hh"

namespace bellwether::cli {

class WatchView {
 public:
  virtual ~WatchView() = default;
  // A body of /v1/leader; also one that is known, after a connection that broke.
  virtual void on_leader(const Json& leader) = 0;
  // A body of /v1/members, about once a second.
  virtual void on_members(const Json& members) = 0;
  // `vote` of /v1/status, about once a second; an empty object where there is none.
  virtual void on_vote(const Json& vote) = 0;
  // An entry of /v1/history, each once, the older one first.  `is_past`: it was over when the watch
  // began.
  virtual void on_election(const Json& election, bool is_past) = 0;
  virtual void on_trouble(const std::string& what) = 0;
  // All news have been told.
  virtual void show() = 0;
};

// A line for each change.
std::unique_ptr<WatchView> make_line_view();

// A JSON object on a line for each change: {"time":…,"event":"leader","data":{…}}.
std::unique_ptr<WatchView> make_json_view();

// Writes the page each time anew, below the one before.  `sidecar` is named in its head.
std::unique_ptr<WatchView> make_page_view(const std::string& sidecar, bool is_coloured);

// The page on the terminal's other screen, drawn over itself; the user's own comes back when the
// view goes.
std::unique_ptr<WatchView> make_live_view(const std::string& sidecar, bool is_coloured);

struct WatchOptions {
  bool is_once = false;  // what is there now, and that is all
  bool is_json = false;  // an object on a line for each change
  bool is_coloured = false;
};

// On a terminal a page that is drawn anew, elsewhere a line for each change.  Ends with Ctrl-C.
// Throws ApiError when nobody answers at first; a sidecar that goes later is waited for.
ExitCode watch(const ApiAddress& address, const WatchOptions& options);

}  // namespace bellwether::cli
