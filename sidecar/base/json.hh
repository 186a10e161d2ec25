// JSON as the API reads and writes it: keys keep their order.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace bellwether {

using Json = nlohmann::ordered_json;

// On one line, or with this indent; what is not UTF-8 is replaced.
std::string dump(const Json& json, int indent = -1);

// Nothing when `text` is not JSON.
std::optional<Json> parse_json(std::string_view text);

}  // namespace bellwether
