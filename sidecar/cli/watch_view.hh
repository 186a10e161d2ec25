// What `bellwether watch` shows, and in which form.
#pragma once

#include <memory>
#include <string>

#include "base/json.hh"
#include "cli/api_client.hh"
#include "cli/watch.hh"

namespace bellwether::cli {

// Is told all that the sidecar says, and shows what is new of it, or all there is.
class WatchView {
 public:
  virtual ~WatchView() = default;
  // A body of /v1/leader; also one that is known, after a connection that broke.
  virtual void on_leader(const Json& leader) = 0;
  // The bodies of /v1/status and /v1/members, about once a second.
  virtual void on_state(const Json& status, const Json& members) = 0;
  // An entry of /v1/history, each once, the older one first.  `is_past`: it was over when the watch
  // began.
  virtual void on_election(const Json& election, bool is_past) = 0;
  virtual void on_trouble(const std::string& what) = 0;
  // All news have been told.
  virtual void show() = 0;
};

// A page, once or again and again, lines or objects, as the options and stdout want it; `address`
// is the sidecar's, which the page names.
std::unique_ptr<WatchView> make_view(const ApiAddress& address, const WatchOptions& options);

}  // namespace bellwether::cli
