// Apart from its users because the library takes seconds to compile.
#include "base/json.hh"

namespace bellwether {

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// The library copies and writes a value by recursion, so depth costs stack.
std::optional<Json> parse_json(std::string_view text) {
  constexpr int kMaxDepth = 64;
  bool is_too_deep = false;
  const auto judge = [&](int depth, Json::parse_event_t, const Json&) {
    is_too_deep = is_too_deep || depth > kMaxDepth;
    return !is_too_deep;
  };
  Json json = Json::parse(text, judge, false);
  if (is_too_deep || json.is_discarded()) return std::nullopt;
  return json;
}

}  // namespace bellwether
