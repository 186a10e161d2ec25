// What a command's body says: one JSON object, of the keys that the command takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "api/exchange.hh"
#include "base/json.hh"

namespace bellwether::api {

struct BodyKey {
  enum class Kind : uint8_t { kString, kTruth, kNumber };  // a number is judged by its command

  std::string_view name;
  Kind kind = Kind::kString;
};

// The object in the body, with no other keys than these, any of which may be missing; an empty body
// is an empty object.  Where it is neither, the client is told, and there is none.
std::optional<Json> read_body(const io::HttpRequest& request, std::span<const BodyKey> keys,
                              Exchange& exchange);

}  // namespace bellwether::api
