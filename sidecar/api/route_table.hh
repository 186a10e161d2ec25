// Which paths there are, under which names, and with which methods: the list that README.md shows
// and a test compares with it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "metrics/http_routes.hh"

namespace bellwether::api {

struct Route {
  metrics::HttpRoute route;
  // The first is its name; unused ones are empty.  NAME stands for whatever is there instead.
  std::array<std::string_view, 3> paths;
  std::string_view methods;              // as `Allow` has them
  bool is_for_metrics_listener = false;  // served there, too

  bool allows(std::string_view method) const;
  // What stands for NAME in `path`, which was found to be this route's; "" where nothing does.
  std::string_view name_in(std::string_view path) const;
};

std::span<const Route> routes();

// nullptr when there is no such path.
const Route* find_route(std::string_view path);

}  // namespace bellwether::api
