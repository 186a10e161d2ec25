// What a voter that has no vote waits for, in words for people.
#pragma once

#include <string>

#include "api/backend.hh"

namespace bellwether::api {

// One sentence without its full stop: what the vote of this node is, and when that ends.
std::string vote_text(const Backend& backend);

// "250ms", "12s", "3m": as much as a sentence needs.
std::string rough(Duration duration);

}  // namespace bellwether::api
